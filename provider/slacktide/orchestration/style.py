"""The colours of our tasks in Airflow's graph, readable on each other (contrast above 4.5)."""

from __future__ import annotations

PAPER = "#d9eef0"
INK = "#0b3a42"
