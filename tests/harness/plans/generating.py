"""Random generators: rows made of one row."""

from __future__ import annotations

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from tests.harness.plans.scalars import null, text, whole
from tests.harness.plans.sources import ARRAY, STRUCT
from tests.harness.plans.windows import Windows

Made = tuple[s.Call, r.Columns]
STRUCTS = f"ARRAY<{STRUCT}>"


class Generating(Windows):
    """Draws generators over a relation."""

    def generate(self, rel: r.Rel) -> r.Rel:
        is_outer = self.chance(2)
        makers = (self.explode, self.explode, self.posexplode, self.inline, self.stack, self.pairs)
        call, fields = self.pick(makers)(rel)
        kept = [column for column in rel.columns if not self.chance(4)]
        if is_outer:
            fields = tuple(s.Column(c.id, c.name, c.type, nullable=True) for c in fields)
        return r.Generate(rel, call, is_outer, tuple(map(s.reference, kept)), fields)

    def array(self, rel: r.Rel) -> s.Scalar:
        """A column, or an array of a few values."""
        number = self.of(rel, ("INT",)) or whole(1)
        made = s.Call("array", (number, null("INT"), number), ARRAY, nullable=False)
        return self.of(rel, (ARRAY,)) or made

    def explode(self, rel: r.Rel) -> Made:
        call = s.Call("explode", (self.array(rel),), "ARRAY<STRUCT<col: INT>>", nullable=False)
        return call, (self.column("g", "INT", nullable=True),)

    def posexplode(self, rel: r.Rel) -> Made:
        made = "ARRAY<STRUCT<pos: INT NOT NULL, col: INT>>"
        call = s.Call("posexplode", (self.array(rel),), made, nullable=False)
        return call, (self.column("p", "INT", False), self.column("g", "INT", nullable=True))

    def inline(self, rel: r.Rel) -> Made:
        struct = self.of(rel, (STRUCT,)) or null(STRUCT)
        array = s.Call("array", (struct, struct), STRUCTS, nullable=False)
        call = s.Call("inline", (array,), STRUCTS, nullable=False)
        columns = (self.column("p", "INT", nullable=True), self.column("q", "STRING", True))
        return call, columns

    def stack(self, rel: r.Rel) -> Made:
        value = self.any(rel)
        arguments = (whole(2), text("a"), value, text("b"), self.of(rel, (value.type,)) or value)
        made = f"ARRAY<STRUCT<col0: STRING, col1: {value.type}>>"
        columns = (self.column("n", "STRING", nullable=True), self.column("v", value.type, True))
        return s.Call("stack", arguments, made, nullable=False), columns

    def pairs(self, rel: r.Rel) -> Made:
        """The entries of a map."""
        value = self.any(rel)
        entries = (text("a"), value, text("b"), value)
        one = s.Call("map", entries, f"MAP<STRING, {value.type}>", nullable=False)
        made = f"ARRAY<STRUCT<key: STRING NOT NULL, value: {value.type}>>"
        columns = (self.column("k", "STRING", False), self.column("v", value.type, nullable=True))
        return s.Call("explode", (one,), made, nullable=False), columns

    def repeated(self, rel: r.Rel, count: s.Reference) -> r.Rel:
        """Each row as often as a count says, as EXCEPT ALL and INTERSECT ALL repeat them."""
        numbers = s.Call("sequence", (whole(1, "BIGINT"), count), "ARRAY<BIGINT>", count.nullable)
        made = "ARRAY<STRUCT<col: BIGINT NOT NULL>>"
        call = s.Call("explode", (numbers,), made, nullable=False)
        kept = tuple(map(s.reference, rel.columns))
        number = self.column("", "BIGINT", nullable=False)
        return r.Generate(rel, call, outer=False, kept=kept, fields=(number,))
