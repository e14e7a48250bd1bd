"""Rows that become columns, and columns that become rows."""

from __future__ import annotations

from tests.harness.random_sql.expressions import Column, Pen, columns_of, conjunction
from tests.harness.random_sql.nodes import QUERY, Form
from tests.harness.random_sql.outputs import named
from tests.harness.random_sql.relations import Query, table


def pivot(pen: Pen) -> Query:
    """Rows of a column become columns."""
    base = table(pen, pen.dice.choice(["facts", "loose"]))
    by_name = {column.text.split(".")[1]: column for column in base.scope}
    value = by_name["q" if "q" in by_name else "v"]
    key, group, amount = (pen.name("x") for _ in range(3))
    where = conjunction(pen, base.scope, 1)
    picked = (
        f"{by_name['k'].text} AS {key}, {by_name['g'].text} AS {group}, {value.text} AS {amount}"
    )
    inside = Form(f"SELECT {picked} FROM {{}}{{}}", (base.node, where), QUERY)
    names = [pen.name("x") for _ in range(3)]
    listed = ", ".join(f"'{text}' AS {name}" for text, name in zip("abc", names, strict=True))
    function = pen.dice.choice(["sum", "count", "max", "min"])
    text = f"SELECT * FROM ({{}}) PIVOT ({function}({amount}) FOR {group} IN ({listed}))"
    columns = [Column(key, "integer", "k"), *(Column(name, "integer") for name in names)]
    return Query(Form(text, (inside,), QUERY, "pivot"), columns)


def unpivot(pen: Pen) -> Query:
    """Columns become rows."""
    base = table(pen, "facts")
    integers = columns_of(base.scope, ["integer"])
    items, columns = named(pen, [c.leaf for c in integers], [c.domain for c in integers])
    inside = Form("SELECT {} FROM {}{}", (items, base.node, conjunction(pen, base.scope, 1)), QUERY)
    first, *others = columns
    nulls = pen.dice.choice(["", "INCLUDE NULLS "])
    name, value = pen.name("x"), pen.name("x")
    listed = ", ".join(c.text for c in others)
    text = f"SELECT * FROM ({{}}) UNPIVOT {nulls}({value} FOR {name} IN ({listed}))"
    outputs = [first, Column(name, "string"), Column(value, "integer")]
    return Query(Form(text, (inside,), QUERY, "unpivot"), outputs)
