"""Prices of Spark's parts in CPU seconds, measured on two cores (spark_costs.md)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Coefficients:
    """What each unit costs.

    Attributes:
        session: to start and stop a Spark application (§1: 20 s with default options).
        job: outside its tasks (§3: 130 to 210 ms, §6: 73 ms).
        stage: one more shuffle or broadcast (§1).
        file: one more file to open (§1: 100 files 980 ms).
        row_read: to scan a row of few columns (§2: 300 ms for 6 M rows).
        row_passed: to filter or project a row in a compiled stage.
        row_joined: to probe, and to give a row (§3: Q12).
        row_grouped: to add a row to its group (§3: Q1, 8 measures, 6.3 s for 6 M rows; fewer take less).
        byte_shuffled: to write, send and read (§4: 4.4 s to group 3 M groups of 48 bytes).
        byte_written: to a Parquet file (§7: 1.6 s for 39 MB before compression).
        broadcast_rows: the most rows that are broadcast rather than shuffled.
    """

    session: float = 20.0
    job: float = 0.13
    stage: float = 0.07
    file: float = 0.0098
    row_read: float = 50e-9
    row_passed: float = 15e-9
    row_joined: float = 120e-9
    row_grouped: float = 250e-9
    byte_shuffled: float = 25e-9
    byte_written: float = 40e-9
    broadcast_rows: float = 100_000.0
