"""Where a column of a relation comes from."""

from __future__ import annotations

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.relation import Rel


def origin(root: Rel, column: int) -> tuple[r.Scan, str] | None:
    """The source and its column that give a column of a relation; None where it is computed."""
    rel: Rel = root
    while True:
        match rel:
            case r.Scan():
                name = next((field.name for field in rel.fields if field.id == column), None)
                return None if name is None else (rel, name)
            case r.Project():
                outputs = {output.column.id: output.value for output in rel.outputs}
            case r.Aggregate():
                outputs = {key.column.id: key.value for key in rel.keys}
            case r.Filter() | r.Sort() | r.Limit() | r.Window() | r.Generate():
                rel = rel.child
                continue
            case r.Join():
                in_left = any(own.id == column for own in rel.left.columns)
                rel = rel.left if in_left else rel.right
                continue
            case _:
                return None
        value = outputs.get(column)
        if not isinstance(value, s.Reference):
            return None
        rel, column = rel.child, value.column
