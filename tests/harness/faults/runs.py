"""Runs that are more than a view and its change: how they come to be planned."""

from __future__ import annotations

from collections.abc import Callable

from slacktide.engine.workspace import Workspace
from slacktide.optimizer.compaction import Prices
from tests.harness.faults.kind import OUTSIDE, QUARANTINE, change
from tests.harness.lab import Lab

ALWAYS = Prices(file=0, job=0, write=0, write_byte=0)
"""Merging costs next to nothing, so that every chain that may be merged is."""


def changed_before(runs: int) -> Callable[[Lab], None]:
    """Some runs take in a change each, and then one more lands."""

    def change_again(lab: Lab) -> None:
        for _ in range(runs):
            change(lab)
            lab.refresh()
        change(lab)

    return change_again


def merged(lab: Lab) -> None:
    """Chains of several pieces, of which the run may make one."""
    changed_before(2)(lab)
    lab.ws = Workspace(lab.ws._store, lab.clock, prices=ALWAYS)


# ------------------------------------------------------------------------ foreign keys


def referring(lab: Lab) -> None:
    """Lines that refer to orders, which refer to customers."""
    lab.source("customers", "k INT, name STRING", (1, "a"), (2, "b"), key=["k"])
    orders = [(10 + i, 1 + i % 2, "o") for i in range(4)]
    lab.source(
        "orders",
        "k INT, c INT, state STRING",
        *orders,
        key=["k"],
        references={"c": "customers.k"},
    )
    lines = [(10 + i % 4, i, i) for i in range(12)]
    lab.source("lines", "o INT, n INT, v INT", *lines, key=["n"], references={"o": "orders.k"})


def confirmed(lab: Lab) -> None:
    """The references are found to hold, and rows come and go on either side."""
    assert lab.ws.verify_foreign_keys(lab.spark).holds
    lab.land("customers", update=[((1, "a"), (1, "A"))], insert=[(3, "c")])
    lab.land("orders", insert=[(14, 3, "o")], update=[((11, 2, "o"), (11, 3, "x"))])
    lab.land("lines", insert=[(14, 20, 1)], delete=[(10, 0, 0)])


def broken(lab: Lab) -> None:
    """A line comes that refers to no order."""
    confirmed(lab)
    lab.land("lines", insert=[(99, 30, 1)])


# ------------------------------------------------------------------------ what lands badly


def listed(lab: Lab) -> None:
    """Text files of which rows that do not fit are kept apart."""
    _lines(lab, "a.csv", "1,x,1.5\n2,z,\n")
    lab.ws.add_source(
        "lines",
        kind="files",
        format="csv",
        path=str(lab.folder("lines")),
        schema="id INT, name STRING, x DOUBLE",
        quarantine=str(lab.root / OUTSIDE / QUARANTINE),
    )


def misfits(lab: Lab) -> None:
    """Two files with rows that do not fit, and some that do."""
    _lines(lab, "b.csv", "oops,a,1\n3,b,2\n4,c\n")
    _lines(lab, "c.csv", "5,d,6,7\n6,e,1\n")


def _lines(lab: Lab, name: str, content: str) -> None:
    lab.folder("lines").mkdir(exist_ok=True)
    (lab.folder("lines") / name).write_text(content, encoding="utf-8")
