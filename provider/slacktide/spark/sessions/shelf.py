"""Tables that the tasks of one run share: temporary views of one session, each made at its first use.

Analysing a table and finding its files costs Spark more than reading a small one, and the views of a
run mostly read the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from secrets import token_hex
from typing import TYPE_CHECKING

from slacktide.algebra.types import type_sql
from slacktide.spark.sessions.light import light_session
from slacktide.spark.sessions.temporary import Temporary
from slacktide.spark.sessions.working import working_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Shelf:
    """The tables of one session.

    Args:
        session: a session of its own, so that temporary views meet no others.

    Attributes:
        labels: what is read at an address, by address.
    """

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        self.labels: dict[str, str] = {}
        self._temporary = Temporary(session)
        self._light: SparkSession | None = None
        self._made: dict[Hashable, str] = {}
        # Sources and views of the user are given their names beside ours.
        self._prefix = f"slacktide_{token_hex(8)}_"
        self._count = 0

    def once(self, key: Hashable, make: Callable[[], str]) -> str:
        """Make a table at its first use."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def define(self, sql: str) -> str:
        """A table of what a query gives."""
        return self.once(("query", sql), lambda: self.register(self.session.sql(sql)))

    def register(self, frame: DataFrame) -> str:
        """Name the rows of a frame."""
        self._count += 1
        name = f"{self._prefix}{self._count}"
        self._temporary.name(frame, name)
        return name

    def adopt(self, frame: DataFrame) -> str:
        """Name the rows of a frame of another session."""
        return self.register(self._temporary.lend(frame, self.session))

    def lend(self, sql: str, session: SparkSession) -> DataFrame:
        """What a query over the tables gives, as a frame of another session."""
        return self._temporary.lend(self.session.sql(sql), session)

    def query(self, sql: str, *, is_light: bool) -> DataFrame:
        """What a query over the tables gives.

        Args:
            sql: the query.
            is_light: as `slacktide.spark.sessions.light` says.
        """
        if not is_light:
            return self.session.sql(sql)
        if self._light is None:
            self._light = light_session(self.session)
        return self.lend(sql, self._light)

    def nothing(self, columns: Sequence[tuple[str, str]]) -> str:
        """A table without rows, of columns with these names and types."""
        nulls = ", ".join(
            f"CAST(NULL AS {type_sql(data_type)}) AS {name}" for name, data_type in columns
        )
        return self.define(f"SELECT {nulls} WHERE false")

    @contextmanager
    def passing(self, *frames: DataFrame) -> Iterator[list[str]]:
        """Name the rows of frames, of any session, for a while."""
        tables = [self.adopt(frame) for frame in frames]
        try:
            yield tables
        finally:
            for table in tables:
                self.forget(table)

    def forget(self, table: str) -> None:
        """Take a name away."""
        self.session.catalog.dropTempView(table)

    def alias(self, name: str, frame: DataFrame) -> None:
        """Give the rows of a frame the name under which texts of users read them."""
        self._temporary.name(frame, name)


class Shelves:
    """Two shelves for each choice of settings: for programs, and for texts of users.

    Functions of users have names that no program uses for another; sources and views of theirs may.

    Args:
        spark: the user's session.
        reach: settings with which object stores are reached.
    """

    def __init__(self, spark: SparkSession, reach: Mapping[str, str]) -> None:
        self._spark = spark
        self._reach = reach
        self._known: dict[tuple[bool, frozenset[tuple[str, str]]], Shelf] = {}

    def of(self, conf: Mapping[str, str], *, texts: bool = False) -> Shelf:
        """The tables of the session with some settings that change what queries mean."""
        key = (texts, frozenset(conf.items()))
        if key not in self._known:
            self._known[key] = Shelf(working_session(self._spark, conf, self._reach))
        return self._known[key]
