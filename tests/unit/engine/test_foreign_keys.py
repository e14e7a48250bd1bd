"""Which foreign keys a run checks, what it says of those that are lost, and which answers are doubted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from slacktide import store as s
from slacktide.algebra.textual import from_text
from slacktide.algebra.tree import sources
from slacktide.algebra.view import ReadView
from slacktide.engine.intake.pinning import pinned_files
from slacktide.engine.planning.foreign_keys import (
    Loss,
    LostForeignKeysError,
    checked,
    declared,
    doubts,
    foreign_key_of,
    foreign_keys_at,
    lost,
    windows_of,
)
from slacktide.engine.planning.plan_making import make_plan
from slacktide.engine.planning.staleness import stale
from slacktide.engine.running.committing import requirements
from slacktide.engine.sources.pins import content_digest
from slacktide.errors import DataError, SourceError
from slacktide.optimizer.programs import upkeep
from slacktide.optimizer.programs.maintenance import maintain
from slacktide.optimizer.rule_parts.foreign_keys import ForeignKey
from slacktide.optimizer.ways import remembered_joins
from slacktide.spark.tasks.executor import Executor
from slacktide.store import requirement as q
from slacktide.store.update import CreateWorkspace

SETTINGS = {"policy": "incremental"}
NOW = "2026-01-01T00:00:00.000000Z"
LINE = ForeignKey("l", ("o",), "o", ("k",))
RETURN = ForeignKey("b", ("o",), "o", ("k",))
COLUMNS = {"l": "o", "b": "o", "o": "k"}
LINES, ORDERS, RETURNS = "scan l [o#1:INT]", "scan o [k#4:INT!]", "scan b [o#8:INT]"
ONE = f"join inner on (#1 = #4)\n  {LINES}\n  {ORDERS}\n"
SEVERAL = (
    "join inner on (#10 = #4)\n"
    f"  union 2 [o#10:INT]\n    project [#1]\n      {LINES}\n    project [#8]\n      {RETURNS}\n"
    f"  {ORDERS}\n"
)
NONE = f"join inner on (#1 < #4)\n  {LINES}\n  {ORDERS}\n"


class Asked:
    """An executor that gives what it was told to, by foreign key; an error is raised."""

    def __init__(
        self, found: Mapping[str, Any], moves: frozenset[str] | DataError = frozenset()
    ) -> None:
        self._found = found
        self._moves = moves
        self.asked: list[str] = []

    def rows(self, task: Any, _operator: Any, most: int) -> list[tuple[Any, ...]]:
        self.asked.append(task.name)
        assert task.title == f"foreign key {task.name}", "what errors say that it is about"
        found = self._found.get(task.name, [])
        if isinstance(found, Exception):
            raise found
        return list(found[:most])

    def balances(self, _task: Any, _source: str, _key: tuple[str, ...]) -> frozenset[str]:
        if isinstance(self._moves, DataError):
            raise self._moves
        return self._moves


def record(foreign_key: ForeignKey, at: int) -> s.ForeignKeyRecord:
    versions = dict.fromkeys(foreign_key.sources, at)
    return s.ForeignKeyRecord(
        str(foreign_key),
        foreign_key.source,
        foreign_key.columns,
        foreign_key.target,
        foreign_key.key,
        versions,
    )


def source(name: str, folder: Path, **arguments: Any) -> list[s.Update]:
    """A source of one column with three arrivals, whose files are there."""
    taken = [arrival_of(folder / f"{name}{number}") for number in range(3)]
    schema = ({"name": COLUMNS[name], "type": "INT", "nullable": True},)
    return [
        s.AddSource(name, "change-feed", {"path": str(folder), **arguments}, schema),
        s.AcceptArrivals(name, taken),
    ]


def arrival_of(path: Path) -> s.Arrival:
    """One file, which is there."""
    path.write_text("x")
    return s.Arrival(
        (s.PinnedFile(str(path), 1, "then", digest=content_digest([b"x"])),), 1, 1, NOW
    )


def view(name: str, text: str, at: int | None, *states: str) -> list[s.Update]:
    """A view, with an answer where versions are given."""
    relation = from_text(text)
    read = ReadView(relation, relation.columns, sources=sources(relation))
    added: list[s.Update] = [
        s.AddView(name, "SELECT 1", SETTINGS, {}, read.to_dict(), states=states)
    ]
    if at is not None:
        added.append(s.AdvanceView(name, dict.fromkeys(read.sources, at), 1))
    return added


def world(folder: Path, *updates: s.Update) -> s.World:
    """Orders, and lines and returns that refer to them."""
    refers = {"references": {"o": "o.k"}}
    first = [
        *source("l", folder, **refers),
        *source("b", folder, **refers),
        *source("o", folder, key=["k"]),
    ]
    return s.fold(s.World(), [(0, [CreateWorkspace({})]), (1, [*first, *updates])])


class Options:
    """As much of a store as looking at landed files needs."""

    options: Mapping[str, str] = {}


def check(executor: Asked, of: s.World, plan: Any) -> tuple[s.ForeignKeyRecord, ...]:
    return checked(cast("Executor", executor), cast("s.Store", Options()), of, plan)


def known(*records: s.ForeignKeyRecord) -> s.NoteForeignKeys:
    return s.NoteForeignKeys(records)


def test_what_is_declared(tmp_path: Path) -> None:
    assert [(one.foreign_key, one.obstacle) for one in declared(world(tmp_path))] == [
        (LINE, ""),
        (RETURN, ""),
    ]


def test_a_fact_holds_where_the_answer_stands_at_its_versions(tmp_path: Path) -> None:
    there = world(tmp_path, known(record(LINE, 2)))
    at = {"l": 2, "o": 2}
    assert foreign_keys_at(there, at, {"l": 3, "o": 2}) == {LINE}
    assert not foreign_keys_at(there, {"l": 1, "o": 2}, {"l": 3, "o": 3})
    assert not foreign_keys_at(there, at, {"l": 3, "o": 1})


@pytest.mark.parametrize(
    ("text", "at", "names"),
    [(ONE, 2, [LINE]), (NONE, 2, []), (SEVERAL, 2, [LINE, RETURN]), (ONE, 3, []), (ONE, 1, [LINE])],
    ids=["used", "of no use", "a union of uses", "nothing came", "it is ahead of the answer"],
)
def test_what_a_run_checks(tmp_path: Path, text: str, at: int, names: list[ForeignKey]) -> None:
    keys = known(record(LINE, 2), record(RETURN, 2))
    plan = make_plan(world(tmp_path, *view("v", text, at), keys), now=NOW)
    assert list(plan.foreign_keys) == sorted(map(str, names))


def test_a_plan_derives_what_any_run_goes_by_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    derived: list[str] = []

    def counted(name: str, *arguments: Any, **named: Any) -> Any:
        derived.append(name)
        return maintain(name, *arguments, **named)

    monkeypatch.setattr(upkeep, "maintain", counted)
    monkeypatch.setattr(remembered_joins, "maintain", counted)
    views = [*view("v", ONE, 2), *view("w", SEVERAL, 2)]
    make_plan(world(tmp_path, *views, known(record(LINE, 2), record(RETURN, 2))), now=NOW)
    assert sorted(derived) == ["", "", "v", "w"]


@pytest.mark.parametrize("error", [DataError("a row too many"), None], ids=["at once", "later"])
def test_rows_that_contradict_the_history_break_it(tmp_path: Path, error: DataError | None) -> None:
    there = world(tmp_path, *view("v", ONE, 2), known(record(LINE, 2)))
    executor = Asked({str(LINE): DataError("a row too many")}, error or frozenset())
    with pytest.raises(LostForeignKeysError, match="a row too many"):
        check(executor, there, make_plan(there, now=NOW))


def test_what_holds_moves_to_the_versions_of_the_run(tmp_path: Path) -> None:
    there = world(tmp_path, *view("v", ONE, 2), known(record(LINE, 2)))
    plan = make_plan(there, now=NOW)
    (moved,) = check(Asked({}), there, plan)
    assert dict(moved.versions) == {"l": 3, "o": 3}


def test_all_that_is_broken_is_told_at_once(tmp_path: Path) -> None:
    there = world(tmp_path, *view("v", SEVERAL, 2), known(record(LINE, 2), record(RETURN, 2)))
    executor = Asked({str(LINE): [(7, 1)], str(RETURN): DataError("a row too many")})
    with pytest.raises(LostForeignKeysError) as raised:
        check(executor, there, make_plan(there, now=NOW))
    assert raised.value.losses == (
        Loss(str(RETURN), "does not hold: a row too many"),
        Loss(str(LINE), "does not hold: 7 without its row"),
    )
    assert raised.value.losses[1].notice == (
        "l(o) -> o(k) does not hold: 7 without its row; not used until verified"
    )


def test_what_no_view_goes_by_and_cannot_be_read_is_not_known_any_more(tmp_path: Path) -> None:
    lagging = world(tmp_path, *view("v", ONE, 2), known(record(LINE, 1)))
    plan = make_plan(lagging, now=NOW)
    assert plan.foreign_keys == (str(LINE),)
    assert not plan.views[0].foreign_keys
    (moved,) = check(Asked({}), lagging, plan)
    assert dict(moved.versions) == {"l": 3, "o": 3}
    unreadable = Asked({str(LINE): SourceError("a file is cut off", hint="")})
    with pytest.raises(LostForeignKeysError) as raised:
        check(unreadable, lagging, plan)
    assert raised.value.losses == (
        Loss(str(LINE), "is not known to hold any more: a file is cut off"),
    )
    (tmp_path / "l1").unlink()
    with pytest.raises(LostForeignKeysError, match="l1 is gone"):
        check(Asked({}), lagging, plan)


def mirror(name: str, at: int) -> s.SetChain:
    return s.SetChain(s.Chain(f"sources/{name}", (), s.Segment(1, (), 3, 30, {name: at})))


def names_read(of: s.World, plan: Any) -> dict[str, list[str]]:
    found = pinned_files(of, windows_of(of, plan))
    return {name: [Path(file.path).name for file in files] for name, files in found.items()}


def test_what_the_checks_read_of_landed_files_begins_at_the_mirrors(tmp_path: Path) -> None:
    before = [*view("v", ONE, 2), known(record(LINE, 2)), mirror("o", 1)]
    there = world(tmp_path, *before)
    plan = make_plan(there, now=NOW)
    assert names_read(there, plan) == {"o": ["o1", "o2"], "l": ["l0", "l1", "l2"]}
    there = world(tmp_path, *before, mirror("l", 2), mirror("o", 2))
    assert names_read(there, plan) == {"o": ["o2"], "l": ["l2"]}


def test_rows_that_refer_are_looked_up_where_keys_may_have_gone(tmp_path: Path) -> None:
    """No key of orders moves while they are held back, and no line of before is read."""
    before = [*view("v", ONE, 3), known(record(LINE, 3)), mirror("o", 1)]
    there = world(tmp_path, *before, s.AcceptArrivals("l", [arrival_of(tmp_path / "l0")]))
    plan = make_plan(there, now=NOW)
    assert plan.foreign_keys == (str(LINE),)
    assert names_read(there, plan) == {"o": ["o1", "o2"], "l": ["l0"]}


def test_what_no_view_goes_by_is_checked_back_to_the_mirror(tmp_path: Path) -> None:
    lagging = [*view("v", ONE, 2), known(record(LINE, 1))]
    there = world(tmp_path, *lagging)
    plan = make_plan(there, now=NOW)
    assert names_read(there, plan) == {}
    (tmp_path / "o0").unlink()
    with pytest.raises(LostForeignKeysError, match="o0 is gone"):
        check(Asked({}), there, plan)
    mirrored = world(tmp_path, *lagging, mirror("o", 1))
    (tmp_path / "o0").unlink()
    assert check(Asked({}), mirrored, plan)


def test_what_a_view_goes_by_and_cannot_be_read_ends_the_run(tmp_path: Path) -> None:
    there = world(tmp_path, *view("v", ONE, 2), known(record(LINE, 2)))
    plan = make_plan(there, now=NOW)
    assert plan.views[0].foreign_keys == (str(LINE),)
    with pytest.raises(SourceError, match="a file is gone"):
        check(Asked({str(LINE): SourceError("a file is gone", hint="")}), there, plan)


def test_a_plan_goes_by_what_is_known_as_of_its_start(tmp_path: Path) -> None:
    before = [*view("v", ONE, 2), known(record(LINE, 2))]
    plan = make_plan(world(tmp_path, *before), now=NOW)
    assert lost(world(tmp_path, *before), plan) == ""
    assert lost(
        world(tmp_path, *before, known(replace(record(LINE, 2), broken="gone"))), plan
    ) == str(LINE)
    assert lost(world(tmp_path, *before, known(record(LINE, 3))), plan) == str(LINE)


def test_a_plan_does_not_set_back_what_another_run_has_checked_since(tmp_path: Path) -> None:
    """It would say of a version in between that the key holds, over which nobody has looked."""
    lagging = view("v", ONE, 1)
    there = world(tmp_path, *lagging, known(record(LINE, 2)))
    plan = make_plan(there, now=NOW)
    assert (plan.foreign_keys, plan.views[0].foreign_keys) == ((str(LINE),), ())
    assert stale(there, plan) == ""
    more = [s.AcceptArrivals(n, [arrival_of(tmp_path / f"{n}3")]) for n in ("l", "o")]
    assert stale(world(tmp_path, *lagging, *more, known(record(LINE, 3))), plan) == ""
    assert stale(world(tmp_path, *lagging, *more, known(record(LINE, 4))), plan) == str(LINE)


def test_a_run_commits_what_it_found_of_a_key_over_the_arrivals_that_it_read(
    tmp_path: Path,
) -> None:
    there = world(tmp_path, *view("v", ONE, 2), known(record(LINE, 2)))
    plan = make_plan(there, now=NOW)
    needed = requirements(there, plan, [], {})
    assert {q.SkippedAre("l", ()), q.SkippedAre("o", ())} <= {*needed}


def test_answers_that_went_by_several_keys_at_once_are_doubted(tmp_path: Path) -> None:
    state = s.SetChain(s.Chain("states/x", (), None))
    views = [*view("v", SEVERAL, 2, "states/x"), *view("w", NONE, 2), *view("one", ONE, 2)]
    there = world(tmp_path, *views, state, known(record(LINE, 2), record(RETURN, 2)))
    assert doubts(there, frozenset({RETURN})) == [
        s.DoubtAnswer("v", str(RETURN)),
        s.DropChain("states/x"),
    ]
    assert doubts(there, frozenset()) == []
    assert foreign_key_of(there.foreign_keys[str(LINE)]) == LINE


def test_a_view_without_an_answer_has_none_to_doubt(tmp_path: Path) -> None:
    state = s.SetChain(s.Chain("states/x", (), None))
    there = world(tmp_path, *view("v", ONE, None, "states/x"), state, known(record(LINE, 2)))
    assert doubts(there, frozenset({LINE})) == [s.DropChain("states/x")]
