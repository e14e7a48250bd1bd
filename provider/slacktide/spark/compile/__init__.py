"""A step of a program as one SQL string: operators nested, those that are read twice as tables.

Columns are named by id (``c12``), so that no two sides of a join collide; the multiplicity is
``__m``. How exactness is kept in SQL is said where it is done.
"""

from __future__ import annotations

from slacktide.spark.compile.step import keys_sql, step_sql

__all__ = ["keys_sql", "step_sql"]
