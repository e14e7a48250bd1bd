"""Answers and their changes as DataFrames in the reader's own session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slacktide.algebra.scalar import Column
from slacktide.algebra.sql import quoted, scalar_sql, sort_key_sql
from slacktide.algebra.view import ReadView
from slacktide.common.change_feed import CHANGE_TYPE, COMMIT_VERSION, DELETE, INSERT
from slacktide.engine.answers.former_texts import text_as_of, texts_between
from slacktide.engine.definitions.drafts import check_known
from slacktide.errors import UnknownObjectError, UnsupportedQueryError
from slacktide.spark.files.defaults import never_null_sql
from slacktide.spark.sessions.shelf import Shelf
from slacktide.spark.sessions.working import working_session
from slacktide.spark.tables.columns import restored
from slacktide.spark.tables.pieces import Pieces
from slacktide.spark.texts.bags import copies_sql
from slacktide.store.naming import segments
from slacktide.store.record import Chain, Segment

if TYPE_CHECKING:
    from slacktide.spark.sessions.handles import DataFrame, SparkSession
    from slacktide.store.store import Store
    from slacktide.store.world import World


def stored_columns(view: ReadView) -> tuple[Column, ...]:
    """The columns of a stored answer: those of the query, then hidden ones for its order."""
    hidden = () if view.relation is None else view.relation.columns[len(view.outputs) :]
    return (*view.outputs, *hidden)


def read_answer(
    store: Store, world: World, spark: SparkSession, name: str, run: int | None
) -> DataFrame:
    """Give the answer of a view, in its order.

    Raises:
        UnknownObjectError: there is no such view, or it has no answer as of the run.
        DamagedFileError: a file of it is gone, or has another length.
        SlacktideError: as `slacktide.spark.failures.translation` says.
    """
    from slacktide.spark.failures.translation import translated

    check_known("view", name, world.views)
    if run is not None and run not in world.runs:
        raise UnknownObjectError(f"there is no run {run}", hint="see: slacktide history")
    text = text_as_of(world.views[name], run)
    view, chain = text.view, world.chains[text.answer]
    columns = stored_columns(view)
    added, taken = _as_of(name, chain, world.chains.get(text.changes), run)
    with translated(f"view {name}"):
        shelf = _shelf(store, spark, view)
        table = Pieces(shelf, store).rows(chain.id, added, columns, taken)
        # Sorted below the renaming: an output may have the name of another stored column.
        rows = f"(SELECT * FROM {table}{_order(view, columns)})"
        return shelf.lend(f"SELECT {_outputs(view)} FROM {rows}", spark)


def read_changes(
    store: Store,
    world: World,
    spark: SparkSession,
    name: str,
    since: int,
    until: int | None,
) -> DataFrame:
    """Give the changes of an answer after run `since`, up to and with run `until`.

    Raises:
        UnknownObjectError: there is no such view or run, changes that old are no longer kept, or the view
            has had other columns since.
        UnsupportedQueryError: the view has a column that is named as one of those that tell of changes.
        DamagedFileError: a file of them is gone, or has another length.
        SlacktideError: as `slacktide.spark.failures.translation` says.
    """
    from slacktide.spark.failures.translation import translated

    check_known("view", name, world.views)
    record = world.views[name]
    _check_since(world, since)
    texts = texts_between(world, record, since, until)
    newest = texts[-1].view if texts else ReadView.from_dict(record.definition)
    _check_tail(name, newest)
    change = f"IF(__m > 0, '{INSERT}', '{DELETE}')"
    tail = f"{change} AS {CHANGE_TYPE}, __run AS {COMMIT_VERSION}"
    selects = []
    with translated(f"view {name}"):
        shelf = _shelf(store, spark, newest)
        pieces = Pieces(shelf, store)
        for view, chain in [(text.view, text.changes) for text in texts] or [(newest, "")]:
            wanted = [
                segment
                for segment in (world.chains[chain].segments if chain in world.chains else ())
                if int(segment.run) > since and (until is None or int(segment.run) <= until)
            ]
            table = pieces.by_run(chain, wanted, stored_columns(view))
            selects.append(f"SELECT {_outputs(view)}, {tail} FROM {table} {copies_sql()}")
        return shelf.lend(" UNION ALL ".join(selects), spark)


def _check_since(world: World, since: int) -> None:
    newest = max(world.runs, default=0)
    if since > newest:
        raise UnknownObjectError(
            f"there is no run {since} yet",
            hint=f"the newest run is {newest}; see 'slacktide history'",
        )


def _check_tail(name: str, view: ReadView) -> None:
    for column in view.outputs:
        if column.name.lower() in {CHANGE_TYPE, COMMIT_VERSION}:
            raise UnsupportedQueryError(
                f"view {name} has a column {column.name} of its own, as changes have",
                hint="give the column another name with 'slacktide view replace'; the answer can be read",
            )


def _outputs(view: ReadView) -> str:
    return ", ".join(
        f"{_restored(column, position)} AS {quoted(column.name)}"
        for position, column in enumerate(view.outputs)
    )


def _shelf(store: Store, spark: SparkSession, view: ReadView) -> Shelf:
    return Shelf(working_session(spark, view.conf, store.spark_settings))


def _as_of(
    name: str, chain: Chain, changes: Chain | None, run: int | None
) -> tuple[list[Segment], list[Segment]]:
    """What makes up an answer: pieces to add, and changes to take back."""
    pieces = list(segments(chain))
    kept = [piece for piece in pieces if run is None or int(piece.run) <= run]
    later = pieces[len(kept) :]
    if run is None or not later or (kept and (kept[-1].run == run or later[0].runs == 1)):
        return kept, []
    # Written anew or compacted since: what it has become, less all that happened to it until then.
    since = () if changes is None else changes.segments
    oldest = _oldest(changes)
    if oldest is None or run < oldest:
        raise UnknownObjectError(
            f"view {name} has no answer as of run {run}",
            hint=f"the oldest answer that is kept is of run {oldest or next(segments(chain)).run}",
        )
    return [*kept, later[0]], [s for s in since if run < int(s.run) <= int(later[0].run)]


def _oldest(changes: Chain | None) -> int | None:
    """The first run as of which an answer can be told from its changes."""
    first = None if changes is None else next(segments(changes), None)
    return None if first is None else int(first.run)


def _restored(column: Column, position: int) -> str:
    if column.type == "VOID":
        return "NULL"
    value = restored(column, position)
    return value if column.nullable else never_null_sql(value, column.type)


def _order(view: ReadView, columns: tuple[Column, ...]) -> str:
    positions = {column.id: position for position, column in enumerate(columns)}
    keys = [
        sort_key_sql(key, scalar_sql(key.value, lambda column: f"c{positions[column]}"))
        for key in view.order
    ]
    return f" ORDER BY {', '.join(keys)}" if keys else ""
