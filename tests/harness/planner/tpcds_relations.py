"""The relations of the TPC-DS views as Spark's optimised plans mean them, read once and kept as text.

    python -m tests.harness.planner.tpcds_relations

reads every text of `tests.harness.tpcds_parameters` against the tables as their files declare them, and
writes what it means to the folder `tpcds` beside this module. A run with another release of Spark may
give other relations for the same meaning.
"""

from __future__ import annotations

import sys
from pathlib import Path

from slacktide.algebra.textual import from_text, to_text
from tests.harness.tpcds import SCHEMAS
from tests.harness.tpcds_feed import KEYS
from tests.harness.tpcds_parameters import workable_queries

FOLDER = Path(__file__).parent / "tpcds"


def main() -> int:
    """Read all views; what has no relation is named, and nothing is written for it."""
    from slacktide.spark.reader import read_view
    from slacktide.spark.sessions.session import start_session

    schemas = {
        table: [{**column, "nullable": column["name"] not in KEYS[table]} for column in columns]
        for table, columns in SCHEMAS.items()
    }
    spark = start_session("tpcds-relations")
    unread = 0
    for name, sql in workable_queries().items():
        view = read_view(spark, sql, schemas)
        if view.relation is None:
            sys.stdout.write(f"{name}: {', '.join(map(str, view.reasons))}\n")
            unread += 1
            continue
        text = to_text(view.relation)
        if from_text(text) != view.relation:
            raise ValueError(f"the text of {name} means another relation")
        (FOLDER / f"{name}.plan").write_text(text, encoding="utf-8")
    return int(unread > 0)


if __name__ == "__main__":
    raise SystemExit(main())
