"""The text form: what it looks like, that everything reads back, and what it refuses."""

from __future__ import annotations

import pytest

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.textual import from_text, to_text
from slacktide.errors import InvariantError

PRETTY = """\
aggregate key=[flag#3 := #17] [quantity#5 := sum(#9), n#6 := count()]
  filter (#12 <= DATE '1998-09-02')
    scan lineitem [l_quantity#9:DECIMAL(15,2)!, l_shipdate#12:DATE, l_returnflag#17:STRING]
"""
SCAN = r.Scan("t", (s.Column(1, "a", "INT", True), s.Column(2, "b", "STRING", False)))
A, B = s.Reference(1, "INT", True), s.Reference(2, "STRING", False)
ONE = s.Literal("1", "INT", False)


def test_is_pretty() -> None:
    assert to_text(from_text(PRETTY)) == PRETTY


def project(value: s.Scalar) -> r.Rel:
    column = s.Column(9, "v", value.type, value.nullable)
    return r.Project(SCAN, (s.Assignment(column, value),))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (A, "#1"),
        (s.Reference(1, "INT", False), "#1:INT!"),
        (s.Reference(1, "STRUCT<x: INT NOT NULL>", True), '#1:"STRUCT<x: INT NOT NULL>"'),
        (s.Literal("'it\\'s'", "STRING", False), "'it\\'s'"),
        (s.Literal("'a\nb'", "STRING", False), "\"'a\\nb'\":STRING!"),
        (s.Literal("1.50BD", "DECIMAL(3,2)", False), "1.50BD"),
        (s.Literal("1.50BD", "DECIMAL(9,2)", False), '"1.50BD":DECIMAL(9,2)!'),
        (s.Literal("-1L", "BIGINT", False), "-1L"),
        (s.Literal("CAST(NULL AS INT)", "INT", True), "CAST(NULL AS INT)"),
        (s.Literal("NULL", "VOID", True), '"NULL":VOID'),
        (
            s.Literal("INTERVAL '1' DAY", "INTERVAL DAY", False),
            '"INTERVAL \'1\' DAY":"INTERVAL DAY"!',
        ),
        (s.Call("-", (A, s.Literal("-1", "INT", False)), "INT", True), "(#1 - -1)"),
        (
            s.Call("and", (s.Literal("true", "BOOLEAN", False),) * 3, "BOOLEAN", False),
            "(true and true and true)",
        ),
        (s.Call("+", (A, ONE), "BIGINT", True), "(#1 + 1):BIGINT"),
        (s.Call("-", (A,), "INT", True), '"-"(#1):INT'),
        (s.Call("like any", (B, B), "BOOLEAN", False), '"like any"(#2, #2):BOOLEAN!'),
        (s.Call("cast", (A,), "INT", True), '"cast"(#1):INT'),
        (s.Call("rand", (), "DOUBLE", False), "rand():DOUBLE!"),
        (s.Cast(A, "BIGINT", True), "cast(#1 as BIGINT)"),
        (s.Cast(A, "BIGINT", False), "cast(#1 as BIGINT)!"),
        (s.Cast(B, "INTERVAL DAY", True), 'cast(#2 as "INTERVAL DAY")?'),
        (s.Cast(B, "INT", True, "try_cast"), "try_cast(#2 as INT)"),
        (
            s.Case(((s.Call("isnull", (A,), "BOOLEAN", False), A),), ONE, "INT", True),
            "case(when isnull(#1) then #1 else 1):INT",
        ),
        (
            s.Case(((s.Call("isnull", (A,), "BOOLEAN", False), A),), None, "INT", True),
            "case(when isnull(#1) then #1):INT",
        ),
        (
            s.Call(
                "transform",
                (
                    A,
                    s.Lambda(
                        (s.Column(7, "x", "INT", True),), s.Reference(7, "INT", True), "INT", True
                    ),
                ),
                "ARRAY<INT>",
                True,
            ),
            'transform(#1, lambda([x#7:INT], #7:INT):INT):"ARRAY<INT>"',
        ),
    ],
)
def test_scalars(value: s.Scalar, text: str) -> None:
    rel = project(value)
    assert to_text(rel).partition("\n")[0] == f"project [v#9 := {text}]"
    assert from_text(to_text(rel)) == rel


def key(column: int) -> s.SortKey:
    return s.SortKey(s.Reference(column, "INT", True), ascending=False, nulls_first=True)


COLUMN = s.Column(8, "odd name", "INT", True)
RELATIONS: dict[str, r.Rel] = {
    "odd names": r.Scan("select", (s.Column(3, 'a "quoted" name', "INT", True), COLUMN)),
    "no names": r.Scan("t", (s.Column(3, "", "INT", True),)),
    "values": r.Values((COLUMN,), ((ONE,), (s.Literal("2", "INT", False),))),
    "nothing": r.Values((), ((),)),
    "range": r.Range(-5, 10, 3, s.Column(8, "id", "BIGINT", False)),
    "project": r.Project(SCAN, (s.identity(SCAN.columns[1]), s.Assignment(COLUMN, ONE))),
    "rename": r.Project(SCAN, (s.Assignment(s.Column(1, "c", "INT", True), A),)),
    "expand": r.Expand(SCAN, ((A,), (ONE,)), (COLUMN,)),
    "sort": r.Sort(SCAN, (key(1), s.SortKey(B, ascending=True, nulls_first=False))),
    "limit": r.Limit(SCAN, 3, 1),
    "offset": r.Limit(SCAN, None, 7),
    "window": r.Window(
        SCAN,
        (A,),
        (key(1),),
        (
            s.WindowCall(COLUMN, s.Call("rank", (), "INT", False), "ROWS 'x' \"y\""),
            s.WindowCall(
                s.Column(11, "s", "BIGINT", True),
                s.AggregateCall("sum", (A,), False, None, "BIGINT", True),
                "",
            ),
        ),
    ),
    "generate": r.Generate(
        SCAN, s.Call("explode", (B,), "ARRAY<INT>", True), True, (A, B), (COLUMN,)
    ),
    "aggregate": r.Aggregate(
        SCAN,
        (s.identity(SCAN.columns[0]),),
        (
            s.Measure(
                COLUMN,
                s.AggregateCall(
                    "percentile", (A, ONE), True, s.Literal("true", "BOOLEAN", False), "INT", True
                ),
            ),
        ),
    ),
    "subqueries": r.Filter(
        SCAN,
        s.Call(
            "<",
            (
                s.Subquery(r.Limit(SCAN, 1), "INT", True),
                s.Subquery(r.Range(0, 1, 1, COLUMN), "INT", True),
            ),
            "BOOLEAN",
            True,
        ),
    ),
}


@pytest.mark.parametrize("name", sorted(RELATIONS))
def test_relations(name: str) -> None:
    rel = RELATIONS[name]
    assert from_text(to_text(rel)) == rel
    assert to_text(from_text(to_text(rel))) == to_text(rel)


@pytest.mark.parametrize("kind", ["inner", "left", "right", "full", "semi", "anti", "existence"])
@pytest.mark.parametrize("condition", [None, s.Call("=", (A, ONE), "BOOLEAN", True)])
def test_joins(kind: r.JoinKind, condition: s.Scalar | None) -> None:
    marker = s.Column(8, "m", "BOOLEAN", False) if kind == "existence" else None
    rel = r.Join(SCAN, r.Range(0, 1, 1, s.Column(5, "r", "BIGINT", False)), kind, condition, marker)
    assert from_text(to_text(rel)) == rel


def test_what_is_read_twice_is_written_once() -> None:
    twice: r.Rel = r.Filter(SCAN, s.Call("isnull", (A,), "BOOLEAN", False))
    for level in range(60):
        fields = tuple(s.Column(level * 2 + i, "", c.type, True) for i, c in enumerate(SCAN.fields))
        twice = r.Union((twice, twice), fields)
    text = to_text(twice)
    assert len(text.splitlines()) == 2 * 60 + 2
    assert from_text(text) == twice


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("", "ends before its last input"),
        ("filter true", "ends before its last input"),
        ("scan t []\nscan t []", "goes on behind its end"),
        ("filter true\nscan t []", "indented by 2"),
        ("scam t []", "no relation 'scam'"),
        ("filter (#2 = 1)\n  scan t [a#1:INT]", r"#2 is none of \[1\]"),
        ("filter (#1 = 1 < 2)\n  scan t [a#1:INT]", "one operator"),
        ("filter soundex(#1)\n  scan t [a#1:INT]", "soundex needs a type"),
        ("filter true true\n  scan t [a#1:INT]", "nothing expected before 'true'"),
        ("filter (#1 = 1\n  scan t [a#1:INT]", "expected"),
        ("filter query(2):BOOLEAN\n  scan t []\n  scan u []", "no query 2"),
        ("%1", "no line above"),
        ("scan t [a#1:INT}", "does not read at '}'"),
        ("scan t [a#1]", "type expected"),
    ],
)
def test_refuses_what_is_no_plan(text: str, fact: str) -> None:
    with pytest.raises(InvariantError, match=fact):
        from_text(text)
