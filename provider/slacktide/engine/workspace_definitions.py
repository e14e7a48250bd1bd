"""What a workspace defines: sources, views and functions, added, altered and dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from slacktide.engine.arguments import checked
from slacktide.engine.definitions.catalogue import Catalogue
from slacktide.engine.definitions.declaring import outstanding
from slacktide.engine.definitions.drafts import ViewDraft
from slacktide.store.record import FunctionRecord, Source, ViewRecord

if TYPE_CHECKING:
    from slacktide.spark.sessions.handles import SparkSession


@checked
class WorkspaceDefinitions:
    """The part of `Workspace` that defines; its base, so that each has one subject, and never used alone.

    Args:
        catalogue: where they are kept.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def add_source(self, name: str, *, kind: str, **arguments: Any) -> Source:
        """Add a source; its schema is given, or read from its first file.

        Raises:
            InvalidNameError, InvalidSettingError, ObjectExistsError: as the words say.
            SourceError: the path or its files cannot be read.
        """
        return self._catalogue.add_source(name, kind, arguments)

    def add_view(self, spark: SparkSession, name: str, sql: str, **settings: Any) -> ViewRecord:
        """Add a view; nothing is computed before the next refresh.

        Raises:
            QueryError: the text does not parse or resolve.
            UnsupportedQueryError: its policy excludes what it is.
        """
        return self._catalogue.add_view(self.draft_view(spark, name, sql, **settings))

    def draft_view(self, spark: SparkSession, name: str, sql: str, **settings: Any) -> ViewDraft:
        """Read a view as `add_view` does, and write nothing."""
        return self._catalogue.draft_view(spark, name, sql, settings)

    def replace_view(self, spark: SparkSession, name: str, sql: str, **settings: Any) -> ViewRecord:
        """Give a view another text or other settings; readers keep its answer until there is one.

        Raises:
            QueryError: the text, or that of a view that reads this one, cannot be read.
            UnsupportedQueryError: a policy excludes what a view has become.
        """
        return self._catalogue.replace_view(spark, name, sql, settings)

    def add_function(
        self, name: str, target: str, *, returns: str, **declaration: Any
    ) -> FunctionRecord:
        """Declare a function that views may call: ``target`` is ``module:function``."""
        return self._catalogue.add_function(name, target, returns, declaration)

    def drop_view(self, name: str) -> None:
        """Remove a view that no other reads, its answers, and the states that no other keeps."""
        self._catalogue.drop_view(name)

    def drop_source(self, name: str) -> None:
        """Remove a source that no view reads."""
        self._catalogue.drop_source(name)

    def drop_function(self, name: str) -> None:
        """Remove a function."""
        self._catalogue.drop_function(name)

    def pause_view(self, name: str, *, paused: bool = True) -> None:
        """Stop refreshing a view, which keeps its last answer, or go on."""
        self._catalogue.pause_view(name, paused=paused)

    def reset_source(self, name: str) -> None:
        """Forget the history of a source; views that read it are rebuilt."""
        self._catalogue.reset_source(name)

    def alter_source(self, spark: SparkSession | None, name: str, *, schema: str) -> Sequence[str]:
        """Give a source more columns; give the names of views that mean something else now.

        Raises:
            InvalidSettingError: the schema does not keep the columns that the source has.
            QueryError: a view cannot be read any more.
        """
        return self._catalogue.alter_source(spark, name, schema)

    def hold_source(self, name: str, *, held: bool = True) -> None:
        """Stop taking in a source while others go on, or take it in again."""
        self._catalogue.hold_source(name, held=held)

    def mark_complete(self, source: str, until: datetime | str) -> None:
        """Say that all data of a source up to a point in time has come."""
        self._catalogue.mark_complete(source, until)

    def outstanding(self, declarations: Mapping[str, Any]) -> list[str]:
        """What a run would change, as it is declared otherwise and ``"apply": true``: `view NAME`, `source NAME`."""
        return outstanding(self._catalogue.world(), declarations)
