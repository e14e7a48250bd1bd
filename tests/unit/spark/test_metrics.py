"""What is read from a plan that Spark draws as one text."""

from __future__ import annotations

from slacktide.spark.cost import Cost
from slacktide.spark.metrics import _add_nodes

DRAWN = r"""digraph G {
  1 [id="node1" labelType="html" label="<b>Execute InsertIntoHadoopFsRelationCommand</b><br><br>number of written files: 1<br>number of output rows: 1,203<br>written output: 776.0 B" tooltip="Execute InsertIntoHadoopFsRelationCommand file:/q, false, Parquet"];
  subgraph cluster3 {
    id="cluster3";
    label="WholeStageCodegen (2)\n \nduration: 33 ms";
      4 [id="node4" labelType="html" label="<b>HashAggregate</b><br><br>number of output rows: 3" tooltip="HashAggregate(keys=[k#3L], functions=[count(\"x\")])"];
  }
  9 [id="node9" labelType="html" label="<b>Scan parquet </b><br><br>number of files read: 2<br>number of output rows: 2,000" tooltip="FileScan parquet [k#3L] Location: InMemoryFileIndex(1 paths)[file:/a \"b\"/gr\u00F6\uD83D\uDE00], ReadSchema: struct<k:bigint>"];
  10 [id="node10" labelType="html" label="<br><b>Scan csv a<b>c</b><br><br>" tooltip="FileScan csv"];
  1->0;
}"""


def test_scans_and_writes_are_counted_and_labelled() -> None:
    cost = Cost()
    _add_nodes(cost, DRAWN, {'/a "b"/grö😀': "changes of t"})
    assert (cost.rows_read, cost.files_read) == (2000, 2)
    assert (cost.writes, cost.rows_written) == (1, 1203)
    assert cost.operators[0] == ("changes of t", 2000)
    assert cost.operators[1][1] is None
