"""`read_view`: from the text of a query to what it means.

The text is analysed against placeholders (empty relations of the sources' schemas, known by the
number of their rows' RDD), in a session of its own whose settings are pinned, so that the plan
depends on nothing but text, schemas and settings. What the reader cannot say with certainty becomes
a reason, and the view is then computed in full; nothing is guessed, as the relation is written as
SQL again and must come out with the types of the query.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException

from slacktide.algebra.scalar import Cast, Column, Literal
from slacktide.algebra.view import ReadView
from slacktide.common.reasons import Reason
from slacktide.common.tree import of_type
from slacktide.errors import QueryError
from slacktide.spark.reader.context import UnreadableError
from slacktide.spark.reader.facts import reasons_of
from slacktide.spark.reader.order import peel
from slacktide.spark.reader.prove import differences, prove_names
from slacktide.spark.reader.prune import prune_scans
from slacktide.spark.reader.relations import Relations
from slacktide.spark.reader.workshop import Workshop, one_line
from slacktide.spark.sessions.session import capture_conf

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from slacktide.algebra.relation import Rel

_ZONED = re.compile(r"\bTIMESTAMP\b")
_RAW_TEXTS = "spark.sql.parser.escapedStringLiterals"
Schema = Sequence[Mapping[str, Any]]
Prepare = Callable[["SparkSession"], None]


def read_view(
    spark: SparkSession,
    sql: str,
    sources: Mapping[str, Schema],
    *,
    conf: Mapping[str, str] | None = None,
    views: Mapping[str, str] | None = None,
    prepare: Prepare | None = None,
) -> ReadView:
    """Read a query.

    Args:
        spark: a running session; it is not changed.
        sql: the text of a SELECT.
        sources: schemas by name, each column as ``{"name", "type", "nullable"}``.
        conf: settings that change meaning, as captured; those of `spark` where None.
        views: texts of other views that the query may name; they are expanded.
        prepare: called with the session of its own, to register functions.

    Raises:
        QueryError: the text does not parse or resolve, is not a query over the sources, or is refused by Spark's
            optimiser or planner.
    """
    settings = capture_conf(spark) if conf is None else dict(conf)
    workshop = Workshop(spark, settings, sources, views or {}, prepare)
    with workshop.bridge.active():
        return _read(workshop, sql, settings)


def _read(workshop: Workshop, sql: str, settings: Mapping[str, str]) -> ReadView:
    execution, facts = workshop.analyse(sql)
    _check_plannable(execution)
    outputs = tuple(
        Column(place, field["name"], field["t"], field["n"])
        for place, field in enumerate(facts["output"])
    )
    reasons, is_deterministic, asks_clock = reasons_of(facts, workshop.texts_read(sql))
    view = ReadView(
        relation=None,
        outputs=outputs,
        reasons=reasons,
        sources=workshop.read_by(facts),
        views=workshop.views_placed(),
        deterministic=is_deterministic,
        clock=asks_clock,
        conf=settings,
    )
    if reasons:
        return view
    if settings.get(_RAW_TEXTS) == "true":
        # The texts that are written from a relation escape with backslashes.
        return replace(view, reasons=(Reason("UNREADABLE_EXPRESSION", f"text under {_RAW_TEXTS}"),))
    try:
        return _with_relation(workshop, workshop.bridge.tree(execution.optimizedPlan()), view)
    except UnreadableError as stop:
        return replace(view, reasons=(stop.reason,))
    except (PySparkException, Py4JJavaError) as error:
        failure = f"a plan that fails in the optimiser ({type(error).__name__})"
        return replace(view, reasons=(Reason("UNREADABLE_NODE", failure),))
    except RecursionError:
        return replace(view, reasons=(Reason("UNREADABLE_NODE", "a plan nested too deeply"),))


def _check_plannable(execution: Any) -> None:
    """Refuse what Spark's optimiser or planner refuses, as it would at every run over rows."""
    try:
        execution.sparkPlan()
    except AnalysisException as error:
        raise QueryError(
            f"the query cannot be run: {one_line(error)}", hint="change the query as Spark says"
        ) from error
    except (PySparkException, Py4JJavaError):
        return  # a defect of Spark's, not its word on the query: a run may still do without


def _with_relation(workshop: Workshop, tree: Any, view: ReadView) -> ReadView:
    reading = workshop.reading()
    peeled = peel(Relations(reading), tree)
    relation = prune_scans(peeled.relation)
    outputs = tuple(
        Column(own.id, said.name, said.type, said.nullable)
        for own, said in zip(relation.columns, view.outputs, strict=False)
    )
    _refuse_spellings(relation, view.conf)
    prove_names(workshop, reading)
    found = differences(workshop, relation, outputs)
    if found:
        return replace(view, reasons=(Reason("REBUILD_DIFFERS", found),))
    return replace(view, relation=relation, outputs=outputs, order=peeled.order)


def _refuse_spellings(relation: Rel, conf: Mapping[str, str]) -> None:
    """Stop at what the settings of the view would let SQL say otherwise than the reader writes it."""
    if conf.get("spark.sql.timestampType") != "TIMESTAMP_NTZ":
        return
    types = [cast.type for cast in of_type(relation, Cast)]
    types += [literal.type for literal in of_type(relation, Literal)]
    if any(_ZONED.search(data_type) for data_type in types):
        raise UnreadableError("UNREADABLE_EXPRESSION", "TIMESTAMP, which means TIMESTAMP_NTZ")
