"""The setting ``sink`` of a view, checked before anything is written."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from slacktide.algebra.nested import is_storable, storable
from slacktide.engine.definitions.places import check_sink_place, sink_path
from slacktide.errors import InvalidSettingError
from slacktide.store.address import parse_address
from slacktide.store.pointers import open_publication
from slacktide.store.store import random_token

if TYPE_CHECKING:
    from slacktide.algebra.scalar import Column
    from slacktide.store.store import Store
    from slacktide.store.world import World

_FORM: Final = 'write {"parquet": PATH}'
_VOID: Final = re.compile(r"\bVOID\b")


def check_sink(name: str, value: Any) -> dict[str, str]:
    """Give the setting with its path in the spelling of the workspace.

    Raises:
        InvalidSettingError: it is not ``{"parquet": path}``.
    """
    if isinstance(value, Mapping) and len(value) == 1:
        kind, path = next(iter(value.items()))
        if kind != "parquet":
            raise InvalidSettingError(
                f"view {name} has a sink of the kind {kind}; only parquet is supported",
                hint=_FORM,
            )
        if isinstance(path, str) and path.strip():
            return {"parquet": parse_address(path).spelling}
    raise InvalidSettingError(f"view {name} has the sink {value!r}", hint=_FORM)


def check_sink_of(
    name: str,
    settings: Mapping[str, Any],
    columns: tuple[Column, ...],
    store: Store,
    world: World,
    besides: Mapping[str, str] | None = None,
) -> None:
    """Check that the answer of a view can be published where its setting says.

    Args:
        name: of the view.
        settings: of it, checked.
        columns: of its answer.
        store: the workspace's store.
        world: the log as it is.
        besides: further sinks, by what they are.

    Raises:
        InvalidSettingError: the place is another's, or Parquet has no such columns.
        SinkError: what is there is not of this workspace, or its store cannot overwrite on a condition.
    """
    path = sink_path(settings)
    if path is None:
        return
    check_columns(f"the sink of view {name}", columns)
    check_sink_place(name, settings, store.root, world, besides=besides)
    publication = open_publication(parse_address(path), store.options)
    publication.check(store.identity)
    publication.check_overwrites(random_token())


def check_columns(what: str, columns: tuple[Column, ...]) -> None:
    """Check that readers of Parquet can have the columns of an answer.

    Raises:
        InvalidSettingError: a type or a name is none of theirs.
    """
    for column in columns:
        if _VOID.search(column.type) or not is_storable(column.type):
            raise InvalidSettingError(
                f"{what} would have the column {column.name} of type {column.type}, which Parquet "
                "has not",
                hint="cast it in the query, or leave the sink out",
            )
        if storable(column.type) != column.type:
            raise InvalidSettingError(
                f"{what} would have the column {column.name} with two fields of one name, which "
                "readers of Parquet do not tell apart",
                hint="give them different names in the query, or leave the sink out",
            )
    names = Counter(column.name.lower() for column in columns)
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        raise InvalidSettingError(
            f"{what} would have {names[twice[0]]} columns with the name {twice[0]}",
            hint="give them different names in the query, or leave the sink out",
        )
