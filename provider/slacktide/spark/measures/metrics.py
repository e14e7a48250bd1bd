"""What Spark says a run cost: rows from the SQL metrics of executed plans, the rest from stages.

Everything is read once, after the run, from the status stores that Spark keeps with or without its
UI. A metric that is missing is unknown (None), never an error.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError, Py4JJavaError

from slacktide.spark.measures.cost import Cost
from slacktide.spark.sessions.classes import java_class

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NANOSECONDS = 1e9
GONE = (Py4JError, AttributeError)
"""What calls into a Spark raise that somebody has stopped; passed over, as the failure of the work itself says more."""
_DESCRIPTION = "spark.job.description"
_WRITE = "Execute InsertIntoHadoopFsRelationCommand"
_HELD = "Scan ExistingRDD"
_GENERATED = "WholeStageCodegen"
_NODE = re.compile(
    r'id="node(?P<id>\d+)" labelType="html" '
    r'label="(?P<label>[^"<]*(?:<br>)?<b>(?P<name>(?:[^"\\]|\\.)*?)</b>(?:[^"\\]|\\.)*)" '
    r'tooltip="(?P<description>(?:[^"\\]|\\.)*)"'
)
_ROWS = re.compile(r"<br>number of output rows: ([\d,]+)")
_SHUFFLED = re.compile(r"<br>shuffle records written: ([\d,]+)")
_GIVEN = re.compile(r"<br>(?:number of output rows|shuffle records written): ([\d,]+)")
_GROUPING = re.compile(r"\w*Aggregate|Window\w*")
_EDGE = re.compile(r"^ *(\d+)->(\d+);", re.MULTILINE)
_FILES = re.compile(r"<br>number of files read: ([\d,]+)")


class Meter:
    """Reads the status stores of one Spark application.

    Args:
        session: any session of the application.
    """

    def __init__(self, session: SparkSession) -> None:
        jvm_session = session._jsparkSession
        self._sql = jvm_session.sharedState().statusStore()
        self._context = session.sparkContext._jsc.sc()
        self._core = self._context.statusStore()
        self._is_late = False

    def mark(self) -> int:
        """The number of the newest execution that Spark knows of by now; -1 for none."""
        try:
            self._context.listenerBus().waitUntilEmpty()
        except Py4JJavaError:  # it waits ten seconds, for listeners of others, too
            self._is_late = True
        while kept := int(self._sql.executionsCount()):
            for newest in _each(self._sql.executionsList(kept - 1, 1)):
                return int(newest.executionId())
            # Spark keeps the newest ones, and has just dropped some of them.
        return -1

    def cost(self, since: int, until: int, labels: Mapping[str, str], *, target: str = "") -> Cost:
        """Sum what the executions between two marks cost.

        Args:
            since: the mark before.
            until: the mark after.
            labels: what is read at an address, to name scans.
            target: what the executions were `described` as, where only these count: other threads
                may use the same application.
        """
        cost = Cost(partial=self._is_late)
        for number in range(since + 1, until + 1):
            found = self._sql.execution(number)
            if found.isEmpty():
                continue
            execution = found.get()
            if target and str(execution.description()) != target:
                continue
            cost.jobs += int(execution.jobs().size())
            for stage in _each(execution.stages().toSeq()):
                self._add_stage(cost, stage)
            try:
                drawn = self._sql.planGraph(number).makeDotFile(self._sql.executionMetrics(number))
            except Py4JJavaError:  # Spark has dropped it meanwhile
                cost.partial = True
                continue
            _add_nodes(cost, str(drawn), labels)
        return cost

    def _add_stage(self, cost: Cost, stage_id: int) -> None:
        stage = told_of_stage(self._core, stage_id)
        if stage is None:
            return
        cost.stages += int(stage.numCompleteTasks() > 0)
        cost.cpu_seconds += stage.executorCpuTime() / NANOSECONDS
        cost.bytes_read += int(stage.inputBytes())
        cost.bytes_shuffled += int(stage.shuffleWriteBytes())
        cost.bytes_written += int(stage.outputBytes())


def told_of_stage(store: Any, number: int) -> Any:
    """What the status store of an application tells of a stage; None of one that was skipped, or that it has dropped."""
    try:
        return store.lastStageAttempt(number)
    except Py4JJavaError:
        return None


def _add_nodes(cost: Cost, drawn: str, labels: Mapping[str, str]) -> None:
    """Add what the nodes of a plan counted; drawn as a graph it is one text, not a call per node."""
    nodes = [*_NODE.finditer(drawn)]
    given = _rows_given(nodes, drawn)
    # Light sessions generate no code at all (`light`), so that one stage of it tells of the whole plan.
    is_generated = _GENERATED in drawn
    for match in nodes:
        name, rows = match["name"].strip(), _count_of(match["label"], _ROWS)
        if name == _HELD:
            continue  # counted when it was worked out
        if name.startswith("Scan "):
            cost.rows_read += rows or 0
            cost.rows_interpreted += 0 if is_generated else rows or 0
            cost.files_read += _count_of(match["label"], _FILES) or 0
            description = json.loads(f'"{match["description"]}"')
            cost.operators.append((_label(description, labels) or name, rows))
        elif name == "Exchange":
            cost.rows_shuffled += _count_of(match["label"], _SHUFFLED) or 0
        elif _GROUPING.fullmatch(name):
            cost.rows_grouped += given.get(match["id"], 0)
        elif name.startswith(_WRITE) and rows is not None:
            cost.writes += 1
            cost.rows_written += rows


def _rows_given(nodes: Sequence[re.Match[str]], drawn: str) -> Mapping[str, int]:
    """The rows that each node is given: what the nearest nodes below it that count have counted, as often as it reads them."""
    counted = {node["id"]: _rows_of(node) for node in nodes}
    below: dict[str, list[str]] = defaultdict(list)
    for one, above in _EDGE.findall(drawn):
        below[above].append(one)
    given: dict[str, int] = {}
    for node in TopologicalSorter(below).static_order():
        parts = [(counted.get(one), given[one]) for one in below.get(node, ())]
        given[node] = sum(passed if rows is None else rows for rows, passed in parts)
    return given


def _rows_of(node: re.Match[str]) -> int | None:
    """The rows that a node gives, None where it does not count them: the value of a subquery is none of a table."""
    return 0 if "Subquery" in node["name"] else _count_of(node["label"], _GIVEN)


def process_cpu_seconds(session: SparkSession) -> float:
    """CPU time of the whole Java process so far: tasks, planning, compilation, garbage collection."""
    gateway: Any = session.sparkContext._gateway
    classes, objects = (java_class(session, f"java.lang.{name}") for name in ("Class", "Object"))
    # The bean's own class is hidden; the interface that declares the method is not.
    beans = java_class(session, "java.lang.management.ManagementFactory")
    kind = classes.forName("com.sun.management.OperatingSystemMXBean")
    method = kind.getMethod("getProcessCpuTime", gateway.new_array(classes, 0))
    bean = beans.getOperatingSystemMXBean()
    return int(method.invoke(bean, gateway.new_array(objects, 0))) / NANOSECONDS


@contextmanager
def described(session: SparkSession, what: str) -> Iterator[None]:
    """Let Spark know the executions of this thread by a description, for a while."""
    context = session.sparkContext
    before = context.getLocalProperty(_DESCRIPTION)
    context.setLocalProperty(_DESCRIPTION, what)
    try:
        yield
    finally:
        with suppress(*GONE):
            context.setLocalProperty(_DESCRIPTION, before)  # type: ignore[arg-type]


def _count_of(label: str, metric: re.Pattern[str]) -> int | None:
    found = metric.search(label)
    return None if found is None else int(found[1].replace(",", ""))


def _label(description: str, labels: Mapping[str, str]) -> str | None:
    for address, label in labels.items():
        if address in description:
            return label
    return None


def _each(sequence: Any) -> Iterator[Any]:
    for position in range(int(sequence.size())):
        yield sequence.apply(position)
