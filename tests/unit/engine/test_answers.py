"""Which texts of a view the changes of a period come from, and which periods are forgotten."""

from __future__ import annotations

import pytest

from slacktide import store as s
from slacktide.algebra.scalar import Column
from slacktide.algebra.view import ReadView
from slacktide.engine.answers.former_texts import texts_between
from slacktide.errors import UnknownObjectError
from slacktide.store.update import CreateWorkspace

READ = ReadView(None, (Column(1, "k", "INT", nullable=True),), sources=("t",)).to_dict()


def answered(run: int) -> list[s.Update]:
    """An answer of `v` and its change, as a run writes them."""
    piece = s.Segment(run, (), 0, 0, {"t": run})
    return [
        s.SetChain(s.Chain("views/v", (), piece)),
        s.SetChain(s.Chain("changes/v", (), None, (piece,))),
        s.AdvanceView("v", {"t": run}, run),
    ]


def world(*more: s.Update) -> s.World:
    """A view whose three texts were first answered by the runs 2, 5 and 8."""
    added: list[s.Update] = [s.AddSource("t", "files", {}, ()), s.AddView("v", "", {}, {}, READ)]
    one, two = (s.ReplaceView("v", f"SELECT {n}", {}, {}, READ) for n in range(2))
    history = [*added, *answered(2), one, *answered(5), two, *answered(8), *more]
    return s.fold(s.World(), [(0, [CreateWorkspace({})]), (1, history)])


def since(of: s.World, first: int, last: int | None = None) -> list[int]:
    """The first runs of the texts between two runs."""
    return [text.since for text in texts_between(of, of.views["v"], first, last)]


def test_the_texts_of_a_period() -> None:
    whole = world()
    assert [since(whole, 1), since(whole, 0, 1)] == [[2, 5, 8], []]
    assert [since(whole, 3, 4), since(whole, 3, 6), since(whole, 6)] == [[2], [2, 5], [5, 8]]


@pytest.mark.parametrize("last", [1, 3, 4, 6, None])
def test_a_period_in_a_forgotten_text_is_refused(last: int | None) -> None:
    one = world(s.ForgetFormer("v", 2))
    with pytest.raises(UnknownObjectError, match="up to run 5 are no longer kept") as refused:
        since(one, 1, last)
    assert refused.value.hint == "read the answer as of run 5, and its changes since then"
    assert [since(one, 5), since(one, 6, 7), since(one, 9)] == [[5, 8], [5], [8]]
    both = world(s.ForgetFormer("v", 2), s.ForgetFormer("v", 5))
    with pytest.raises(UnknownObjectError, match="up to run 8 are no longer kept"):
        since(both, 6, 7)
    replaced = world(s.ForgetFormer("v", 2), s.ReplaceView("v", "SELECT", {}, {}, READ))
    with pytest.raises(UnknownObjectError, match="up to run 5 are no longer kept"):
        since(replaced, 1, last)


def test_the_text_that_is_kept_may_have_forgotten_its_first_changes_too() -> None:
    base, gone = s.Segment(9, (), 0, 0, {"t": 9}), [s.ForgetFormer("v", n) for n in (2, 5)]
    told = world(*gone, s.SetChain(s.Chain("changes/v", (), base)))
    with pytest.raises(UnknownObjectError, match="up to run 9 are no longer kept"):
        since(told, 3, 4)
