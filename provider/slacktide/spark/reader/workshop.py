"""The session in which one query is read: placeholders, views, analysis, errors of the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from pyspark.errors import AnalysisException, ParseException

from slacktide.algebra.scalar import Column
from slacktide.algebra.sql import column_name, quoted
from slacktide.algebra.types import type_sql
from slacktide.errors import QueryError
from slacktide.spark.reader.bridge import Bridge, quiet
from slacktide.spark.reader.context import Modes, Reading
from slacktide.spark.sessions.session import isolated

if TYPE_CHECKING:
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

Schema = Sequence[Mapping[str, Any]]
_SUBSTITUTE: Final = "spark.sql.variable.substitute"
_VARIABLE: Final = re.compile(r"\$\{(?:\w+?:)?\S+?\}")
# Leaves that hold no stored data.
_HARMLESS = frozenset(
    {
        "CTERelationRef",
        "LocalRelation",
        "OneRowRelation",
        "Range",
        "ResolvedInlineTable",
        "UnionLoopRef",
    }
)


class Workshop:
    """A session of its own with every source as an empty relation and other views over them."""

    def __init__(
        self,
        spark: SparkSession,
        conf: Mapping[str, str],
        sources: Mapping[str, Schema],
        views: Mapping[str, str],
        prepare: Callable[[SparkSession], None] | None,
    ) -> None:
        self.spark = isolated(spark, conf)
        self.bridge = Bridge(self.spark)
        if prepare is not None:
            prepare(self.spark)
        self._sources = sources
        self._views = views
        self._names = {name.lower(): name for name in sources}
        self._numbers: dict[int, str] = {}
        self._placed: set[str] = set()

    def _provide(self, facts: Mapping[str, Any], above: tuple[str, ...] = ()) -> None:
        """Register what a parsed text names: sources as placeholders, views over what they name."""
        wanted = {name.lower() for name in facts["names"]}
        if "PlanWithUnresolvedIdentifier" in facts["classes"]:
            wanted = set(self._names) | {name.lower() for name in self._views}
        for name in sorted(wanted - self._placed):
            if name in self._names:
                source = self._names[name]
                number = self.bridge.placeholder(source, _ddl(self._sources[source]))
                self._numbers[number] = source
                self._placed.add(name)
        for name, sql in self._views.items():
            if name.lower() in wanted - self._placed:
                self._place_view(name, sql, above)

    def _place_view(self, name: str, sql: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise QueryError(
                f"the views {', '.join(above)} name each other in a circle",
                hint="a view may read sources and views that do not read it",
            )
        plan, facts = self._parse(sql)
        self._provide(facts, (*above, name))
        self._checked(lambda: self.bridge.define_view(name, plan))
        self._placed.add(name.lower())

    def views_placed(self) -> tuple[str, ...]:
        """Names of the views that texts have named so far, in the order they were given."""
        return tuple(name for name in self._views if name.lower() in self._placed)

    def texts_read(self, sql: str) -> tuple[str, ...]:
        """A text, and those of the views that texts have named so far."""
        return (sql, *(self._views[name] for name in self.views_placed()))

    def reading(self) -> Reading:
        """Start reading a plan of this session."""
        conf = self.spark.conf
        modes = Modes(
            ansi=conf.get("spark.sql.ansi.enabled") == "true",
            zone=str(conf.get("spark.sql.session.timeZone")),
            precision_loss=conf.get("spark.sql.decimalOperations.allowPrecisionLoss") == "true",
        )
        return Reading(modes, self.bridge.functions(), self._numbers)

    def analyse(self, sql: str) -> tuple[Any, Any]:
        """Analyse a query; give Spark's execution of it and the facts of the analysed plan.

        Raises:
            QueryError: it does not parse or resolve, or is not a query over the sources.
        """
        plan, parsed = self._parse(sql)
        self._provide(parsed)
        execution = self.bridge.execution(plan)
        facts = self._checked(lambda: self.bridge.facts(self._analysed(execution)))
        strangers = [name for name in facts["leaves"] if name not in _HARMLESS]
        if strangers or set(facts["rdds"]) - set(self._numbers):
            raise QueryError("the query reads a table that is not a source", hint=self._known())
        return execution, facts

    def probe_table(self, columns: Sequence[Column]) -> str:
        """Register an empty relation with columns of given types; give its name."""
        name = "slacktide_probe"
        ddl = ", ".join(
            f"{column_name(c.id)} {type_sql(c.type)}{'' if c.nullable else ' NOT NULL'}"
            for c in columns
        )
        self.bridge.placeholder(name, ddl or "nothing INT")
        return name

    def _analysed(self, execution: Any) -> Any:
        execution.assertAnalyzed()
        return execution.analyzed()

    def _parse(self, sql: str) -> tuple[Any, Any]:
        self._check_variables(sql)
        plan = self._checked(lambda: self.bridge.parse(sql))
        facts = self._checked(lambda: self.bridge.facts(plan))
        if facts["commands"]:
            raise QueryError(
                f"the text is no query but {', '.join(facts['commands'])}",
                hint="a view is one SELECT over sources and other views",
            )
        foreign = [name.replace("\0", ".") for name in facts["names"] if "\0" in name]
        if foreign:
            raise QueryError(
                f"the query reads {', '.join(foreign)}, which is not a source", hint=self._known()
            )
        return plan, facts

    def _check_variables(self, sql: str) -> None:
        """Refuse what Spark replaces by a setting of whichever session reads the text, and by nothing where that has none."""
        found = _VARIABLE.search(sql)
        if found is not None and self.spark.conf.get(_SUBSTITUTE) == "true":
            raise QueryError(
                f"the query has the variable {found[0]}, which each session replaces by a setting of its own",
                hint=f"write the value into the text, or set {_SUBSTITUTE} to false where it is none",
            )

    def _checked(self, action: Callable[[], Any]) -> Any:
        try:
            with quiet():
                return action()
        except ParseException as error:
            raise QueryError(
                f"the query does not parse: {one_line(error)}",
                hint="correct the text at the place named; a view is one SELECT",
            ) from error
        except AnalysisException as error:
            raise QueryError(
                f"the query does not resolve: {one_line(error)}", hint=self._known()
            ) from error

    def _known(self) -> str:
        sources = ", ".join(sorted(self._sources)) or "none"
        views = f"; views: {', '.join(sorted(self._views))}" if self._views else ""
        return f"sources: {sources}{views}"

    def read_by(self, facts: Mapping[str, Any]) -> tuple[str, ...]:
        """Names of the sources that occur in an analysed plan, sorted."""
        return tuple(sorted(self._numbers[number] for number in facts["rdds"]))


def one_line(error: PySparkException) -> str:
    """The first line of Spark's message: class of error, what, and where."""
    text = str(error).strip().partition("\n")[0]
    before, _, after = text.partition(" SQLSTATE: ")
    place = after[5:].strip("; ")
    return f"{before.rstrip('.')} ({place.strip('()')})" if place else before


def _ddl(schema: Schema) -> str:
    return ", ".join(
        f"{quoted(str(column['name']))} {type_sql(str(column['type']))}{'' if column['nullable'] else ' NOT NULL'}"
        for column in schema
    )
