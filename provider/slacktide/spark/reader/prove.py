"""The proof that a relation was read well: written as SQL again, it has the query's types."""

from __future__ import annotations

from pyspark.errors import PySparkException

from slacktide.algebra.relation import Rel
from slacktide.algebra.scalar import Column
from slacktide.algebra.sql import quoted, relation_sql
from slacktide.algebra.tree import sources
from slacktide.spark.reader.workshop import Workshop


def differences(workshop: Workshop, relation: Rel, outputs: tuple[Column, ...]) -> str:
    """Analyse the rebuilt text; tell the first difference, or nothing when there is none."""
    text = relation_sql(relation, {name: quoted(name) for name in sources(relation)})
    bridge = workshop.bridge
    try:
        execution = bridge.execution(bridge.parse(text))
        execution.assertAnalyzed()
        fields = bridge.facts(execution.analyzed())["output"]
    except PySparkException as error:
        return str(error).strip().partition("\n")[0]
    for own, field, said in zip(relation.columns, fields, outputs, strict=False):
        if field["t"] != said.type or own.type != said.type:
            return f"{said.name} is {field['t']} instead of {said.type}"
        if field["n"] and not said.nullable:
            return f"{said.name} may be NULL"
    return ""
