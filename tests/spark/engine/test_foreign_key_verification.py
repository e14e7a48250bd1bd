"""The verifier of declared keys and foreign keys: what it finds, and what it says in the log."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest

from slacktide.engine.checking.foreign_key_verification import (
    ForeignKeyVerification,
    ForeignKeyVerifier,
)
from slacktide.errors import ArrivalChangedError, CommitConflictError
from slacktide.store import update as u
from tests.harness.lab import Lab

pytestmark = pytest.mark.spark

FOREIGN_KEY = "lines(o) -> orders(k)"
FIELDS = ("kind", "name", "violations", "examples", "obstacle", "holds")


@pytest.fixture
def shop(lab: Lab) -> Lab:
    """Orders, and lines of these."""
    lab.source("orders", "k INT", (1,), (2,), key=["k"])
    rows = [(1,), (1,), (2,), (None,)]
    lab.source("lines", "o INT", *rows, references={"o": "orders.k"})
    lab.ws.discover()
    return lab


def verify(lab: Lab, clock: Callable[[], datetime] | None = None) -> ForeignKeyVerification:
    return ForeignKeyVerifier(lab.ws._store, lab.spark, clock or lab.clock, "attempt").verify()


def test_what_holds_is_said_once(shop: Lab) -> None:
    found = verify(shop)
    assert found.to_dict() == {
        "holds": True,
        "checks": [
            dict(zip(FIELDS, ("key", "orders(k)", 0, (), "", True), strict=True)),
            dict(zip(FIELDS, ("foreign key", FOREIGN_KEY, 0, (), "", True), strict=True)),
        ],
        "versions": {"orders": 1, "lines": 1},
        "doubted": [],
    }
    record = shop.ws._store.world().held_keys[FOREIGN_KEY]
    assert (dict(record.versions), record.broken) == ({"orders": 1, "lines": 1}, "")
    number = shop.number
    assert verify(shop) == found
    assert shop.number == number


def test_what_violates_is_counted_and_shown_in_part(shop: Lab) -> None:
    shop.land("orders", insert=[(2,), (None,)])
    shop.land("lines", insert=[(k,) for k in (11, 12, 13, 14, 14)])
    shop.ws.discover()
    found = verify(shop)
    key, foreign_key = found.checks
    assert not found.holds
    assert (key.violations, set(key.examples)) == (2, {"NULL", "2"})
    assert (foreign_key.violations, len(foreign_key.examples)) == (4, 3)
    assert {*foreign_key.examples} <= {"11", "12", "13", "14"}
    assert foreign_key.finding.startswith("4 keys violate it: ")
    assert foreign_key.finding.endswith("; …")
    world = shop.ws._store.world()
    assert world.foreign_keys[FOREIGN_KEY].broken == (
        f"does not hold: {foreign_key.finding}; {key.line}"
    )
    assert not world.held_keys


def test_what_is_not_declared_any_more_is_withdrawn(shop: Lab) -> None:
    verify(shop)
    store = shop.ws._store
    source = store.world().sources["lines"]
    arguments = {key: value for key, value in source.arguments.items() if key != "references"}
    store.commit([u.AlterSource("lines", arguments, source.schema)])
    found = verify(shop)
    assert [check.kind for check in found.checks] == ["key"]
    assert store.world().foreign_keys[FOREIGN_KEY].broken == "is not declared any more"


def test_nothing_is_said_of_what_moved_meanwhile(shop: Lab) -> None:
    def meanwhile() -> datetime:
        shop.ws.reset_source("lines")
        return shop.clock()

    with pytest.raises(CommitConflictError):
        verify(shop, meanwhile)
    assert not shop.ws._store.world().foreign_keys


def test_of_files_that_are_not_as_they_were_accepted_nothing_is_said(shop: Lab) -> None:
    """What they held is what a foreign key has to hold over, and what comes back where they are restored."""
    shop.source("other", "k INT", (1,))
    shop.ws.discover()
    (unread,) = shop.folder("other").iterdir()
    unread.write_bytes(b"")
    assert verify(shop).holds, "nothing of it is read"
    (landed,) = shop.folder("lines").iterdir()
    before = landed.read_bytes()
    shop.land("lines", insert=[(2,)])
    (other,) = (one for one in shop.folder("lines").iterdir() if one != landed)
    landed.write_bytes(other.read_bytes())
    number = shop.number
    with pytest.raises(ArrivalChangedError, match="lines"):
        verify(shop)
    assert shop.number == number
    landed.write_bytes(before)
    assert verify(shop).holds
