"""Small views, built by hand, that the planner's tests speak of."""

from __future__ import annotations

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.view import ReadView

BOOLEAN = "BOOLEAN"


def column(number: int, data_type: str = "INT", *, nullable: bool = True) -> s.Column:
    return s.Column(number, f"c{number}", data_type, nullable)


ORDERS = r.Scan("orders", (column(1), column(2), column(3, "DECIMAL(15,2)")))
LINES = r.Scan("lines", (column(11), column(12, "DECIMAL(15,2)"), column(13, "DOUBLE")))


def equal(left: int, right: int) -> s.Call:
    return s.Call("=", (s.reference(column(left)), s.reference(column(right))), BOOLEAN, True)


def aggregate(
    child: r.Rel, function: str, argument: s.Column | None, result: str, *, key: int = 2
) -> r.Aggregate:
    arguments = () if argument is None else (s.reference(argument),)
    call = s.AggregateCall(function, arguments, False, None, result, True)
    keys = (s.identity(column(key)),)
    return r.Aggregate(child, keys, (s.Measure(column(99, result), call),))


FILTERED = r.Filter(ORDERS, equal(1, 2))
PROJECTED = r.Project(FILTERED, (s.identity(column(2)), s.identity(column(3, "DECIMAL(15,2)"))))
JOINED = r.Join(ORDERS, LINES, "inner", equal(1, 11))
UNITED = r.Union((ORDERS, ORDERS), (column(21), column(22), column(23, "DECIMAL(15,2)")))
SUMMED = aggregate(JOINED, "sum", column(12, "DECIMAL(15,2)"), "DECIMAL(25,2)")
TOP = r.Limit(
    r.Sort(SUMMED, (s.SortKey(s.reference(column(99, "DECIMAL(25,2)")), False, False),)), 10
)


EXPANDED = r.Expand(
    ORDERS,
    ((s.reference(column(1)), s.Literal("0", "INT", False)),),
    (column(81), column(82, nullable=False)),
)
LISTS = r.Scan("orders", (column(1), column(2, "ARRAY<INT>")))
GENERATED = r.Generate(
    LISTS,
    s.Call("explode", (s.reference(column(2, "ARRAY<INT>")),), "STRUCT<col: INT>", True),
    False,
    (s.reference(column(1)),),
    (column(83),),
)
PARTITIONED = r.Window(
    ORDERS,
    (s.reference(column(2)),),
    (),
    (s.WindowCall(column(97, nullable=False), s.Call("row_number", (), "INT", False), ""),),
)
RANKED = r.Window(
    ORDERS,
    (),
    (s.SortKey(s.reference(column(1)), True, True),),
    (s.WindowCall(column(98, nullable=False), s.Call("row_number", (), "INT", False), ""),),
)


def view(relation: r.Rel) -> ReadView:
    from slacktide.algebra.tree import sources

    return ReadView(relation, relation.columns, sources=sources(relation))
