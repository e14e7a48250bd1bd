"""What is read from a plan that Spark draws as one text."""

from __future__ import annotations

from types import SimpleNamespace

from py4j.protocol import Py4JJavaError

from slacktide.spark.measures.cost import Cost
from slacktide.spark.measures.metrics import Meter, _add_nodes

DRAWN = r"""digraph G {
  1 [id="node1" labelType="html" label="<b>Execute InsertIntoHadoopFsRelationCommand</b><br><br>number of written files: 1<br>number of output rows: 1,203<br>written output: 776.0 B" tooltip="Execute InsertIntoHadoopFsRelationCommand file:/q, false, Parquet"];
  subgraph cluster3 {
    id="cluster3";
    label="WholeStageCodegen (2)\n \nduration: 33 ms";
      4 [id="node4" labelType="html" label="<b>HashAggregate</b><br><br>number of output rows: 3" tooltip="HashAggregate(keys=[k#3L], functions=[count(\"x\")])"];
  }
  9 [id="node9" labelType="html" label="<b>Scan parquet </b><br><br>number of files read: 2<br>number of output rows: 2,000" tooltip="FileScan parquet [k#3L] Location: InMemoryFileIndex(1 paths)[file:/a \"b\"/gr\u00F6\uD83D\uDE00], ReadSchema: struct<k:bigint>"];
  10 [id="node10" labelType="html" label="<br><b>Scan csv a<b>c</b><br><br>" tooltip="FileScan csv"];
  11 [id="node11" labelType="html" label="<b>Filter</b><br><br>number of output rows: 900" tooltip="Filter (k#3L > 4)"];
  12 [id="node12" labelType="html" label="<br><b>Union</b><br><br>" tooltip="Union"];
  13 [id="node13" labelType="html" label="<b>Exchange</b><br><br>shuffle records written: 12<br>records read: 12" tooltip="Exchange hashpartitioning(k#3L, 4)"];
  14 [id="node14" labelType="html" label="<b>HashAggregate</b><br><br>number of output rows: 12" tooltip="HashAggregate(keys=[k#3L], functions=[partial_count(\"x\")])"];
  1->0;
  4->1;
  13->4;
  14->13;
  12->14;
  11->12;
  9->12;
  10->11;
}"""


def test_scans_and_writes_are_counted_and_labelled() -> None:
    cost = Cost()
    _add_nodes(cost, DRAWN, {'/a "b"/grö😀': "changes of t"})
    assert (cost.rows_read, cost.files_read) == (2000, 2)
    assert cost.rows_interpreted == 0
    assert (cost.writes, cost.rows_written) == (1, 1203)
    assert cost.operators[0] == ("changes of t", 2000)
    assert cost.operators[1][1] is None


class Busy:
    """An application without executions, of which a listener is slow from the second time on."""

    def __init__(self) -> None:
        self.waited = 0

    def listenerBus(self) -> Busy:  # noqa: N802 - Spark's name
        return self

    def waitUntilEmpty(self) -> None:  # noqa: N802 - Spark's name
        self.waited += 1
        if self.waited > 1:
            raise Py4JJavaError("late", SimpleNamespace(_target_id="o1"))

    def executionsCount(self) -> int:  # noqa: N802 - Spark's name
        return 0


def test_figures_that_spark_has_not_told_of_all_are_marked() -> None:
    """The run goes on, and its figures teach nothing."""
    meter, busy = object.__new__(Meter), Busy()
    meter._context, meter._sql, meter._is_late = busy, busy, False
    told = []
    for _ in range(2):
        assert meter.mark() == -1
        told.append(meter.cost(-1, -1, {}))
    assert [cost.to_dict().get("partial") for cost in told] == [None, True]
    told[0].add(told[1])
    assert told[0].partial


def test_what_has_no_generated_code_is_interpreted() -> None:
    cost = Cost()
    _add_nodes(cost, DRAWN.replace("WholeStageCodegen", "Stage"), {})
    assert cost.rows_interpreted == cost.rows_read == 2000


def test_rows_that_go_into_groupings_are_counted() -> None:
    cost = Cost()
    _add_nodes(cost, DRAWN, {})
    of_tasks, of_all = 900 + 2000, 12
    assert cost.rows_grouped == of_tasks + of_all
    assert cost.rows_shuffled == 12


NODE = '  {0} [id="node{0}" labelType="html" label="<b>{1}</b><br>{2}" tooltip="t"];'
COUNTED = "<br>number of output rows: {}"


def test_the_value_of_a_subquery_is_no_row_of_a_grouping() -> None:
    drawn = [
        NODE.format(1, "HashAggregate", ""),
        NODE.format(2, "Project", ""),
        NODE.format(3, "Filter", COUNTED.format(100)),
        NODE.format(4, "Subquery", ""),
        NODE.format(5, "Range", COUNTED.format("5,000")),
    ]
    cost = Cost()
    _add_nodes(cost, "\n".join([*drawn, "2->1;", "3->2;", "4->2;", "5->4;"]), {})
    assert cost.rows_grouped == 100


def test_what_two_branches_read_is_given_twice() -> None:
    """Each node that does not count, and is read twice, doubles the paths to what counts."""
    drawn = [NODE.format(0, "HashAggregate", "")]
    for number in range(1, 60):
        drawn += [NODE.format(number, "Union", ""), f"{number}->{number - 1};"]
        drawn += [f"{number}->{number - 1};"] if number > 1 else []
    drawn += [NODE.format(60, "Exchange", "<br>shuffle records written: 100"), "60->59;"]
    cost = Cost()
    _add_nodes(cost, "\n".join(drawn), {})
    assert cost.rows_grouped == 100 * 2**58
