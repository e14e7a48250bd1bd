"""The choice between increments and full: the cheaper of what is known, and how it finds back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slacktide.optimizer.costs import Candidate, Evidence, PastRun, predict
from slacktide.optimizer.costs.evidence import LEAST_ROWS
from slacktide.optimizer.costs.increments import MOST_STARTING, STARTING
from slacktide.optimizer.programs.full import COUNTING, MERGING
from slacktide.optimizer.ways.case import REGRET, Case
from slacktide.optimizer.ways.weighed import Weighed
from slacktide.optimizer.ways.weighing import weigh
from tests.unit.optimizer.weighed import (
    COSTS,
    SIZES,
    WAYS,
    WORK,
    case,
    code,
    past,
    price,
    with_rows,
)


@pytest.mark.parametrize(
    ("share", "missing", "way", "reason"),
    [
        (0.1, "", "incremental", "CHANGE_SMALL"),
        (0.1001, "", "rebuild", "CHANGE_TOO_LARGE"),
        (0.01, "states/x", "rebuild", "STATE_MISSING"),
    ],
)
def test_while_no_run_has_shown_anything_the_share_decides(
    share: float, missing: str, way: str, reason: str
) -> None:
    found = weigh(case(share=share, missing=missing))
    assert (found.way, code(found)) == (way, reason)


@pytest.mark.parametrize("rows", [LEAST_ROWS - 1, None])
def test_a_small_view_goes_by_the_share_unless_that_is_plainly_dearer(rows: int | None) -> None:
    dear = case(past(1, "rebuild", 1.0), past(2, "incremental", 4.0))
    assert weigh(dear).way != "incremental"
    assert weigh(with_rows(dear, rows)).way == "incremental"
    dearer = with_rows(case(past(1, "rebuild", 1.0), past(2, "incremental", 4.01)), rows)
    found = weigh(dearer)
    assert (found.way, code(found)) == ("rebuild", "CHEAPER_FULL")
    lost = weigh(replace(dearer, missing="states/x"))
    assert (lost.way, code(lost)) == ("rebuild", "STATE_MISSING")


@given(COSTS, COSTS, COSTS)
def test_the_cheapest_is_taken(incremental: float, rebuild: float, text: float) -> None:
    full = [past(1, "rebuild", rebuild), past(2, "rebuild", rebuild), past(3, "text", text)]
    found = weigh(case(*full, past(4, "incremental", incremental)))
    prices = {one.way: one.price for one in found.predictions}
    assert prices[found.way] == min(prices.values())
    assert prices == pytest.approx({"incremental": incremental, "rebuild": rebuild, "text": text})
    cheaper = "CHEAPER_INCREMENTAL" if found.way == "incremental" else "CHEAPER_FULL"
    assert [reason.code for reason in found.reasons] == [cheaper]


@given(st.lists(st.tuples(st.sampled_from(sorted(SIZES)), COSTS), max_size=12), st.booleans())
def test_what_is_known_to_be_dearer_than_full_is_never_taken(
    runs: list[tuple[str, float]], missing: bool
) -> None:
    history = [past(n, way, seconds) for n, (way, seconds) in enumerate(runs, 1)]
    found = weigh(case(*history, missing="states/x" if missing else ""))
    if found.way == "incremental":
        taken = next(one for one in found.predictions if one.way == "incremental")
        full = min(price(found, "rebuild"), price(found, "text"))
        assert taken.basis == "doubted" or taken.price <= full or not history
    assert not (missing and found.way == "incremental")


def test_a_program_that_has_not_run_is_tried() -> None:
    """Where it is hardly dearer by the model, or that guesses; without its states, it says whether they are worth building."""
    built = past(1, "rebuild", 5.0)

    def found(work: float, *, is_guessed: bool = False) -> Case:
        one = Candidate("incremental", WORK.times(work), is_guessed=is_guessed)
        return replace(case(built), ways=replace(WAYS, incremental=one))

    many, few = (
        found(20),
        next(one for one in map(found, range(2, 20)) if price(weigh(one), "incremental") > 5.0),
    )
    assert (weigh(few).way, weigh(few).predictions[0].basis) == ("incremental", "doubted")
    assert code(weigh(few)) == "INCREMENTS_UNTRIED"
    assert code(weigh(many)) == "CHEAPER_FULL"
    assert weigh(found(20, is_guessed=True)).way == "incremental"
    lost = replace(many, missing="states/x")
    assert code(weigh(lost)) == "CHEAPER_FULL"
    runs = [built, *(past(number, "text", 5.0) for number in range(2, 40))]
    tried = weigh(replace(lost, evidence=Evidence(runs, rows=LEAST_ROWS)))
    assert (tried.way, tried.predictions[0].basis) == ("rebuild", "doubted")


def test_what_is_thought_dear_is_not_tried_after_a_lighter_run_that_was() -> None:
    """Other sources change with it than did then, so that it is another program; twenty times the work."""
    known = [past(1, "rebuild", 5.0), past(2, "text", 5.0)]

    def found(*runs: PastRun) -> Weighed:
        other = Candidate("of other sources", WORK.times(20), is_guessed=True)
        return weigh(replace(case(*known, *runs), ways=replace(WAYS, incremental=other)))

    cheap, dear = past(3, "incremental", 1.0), past(3, "incremental", 9.0)
    heavier = replace(dear, expected=WORK.times(21))
    for told in ((), (cheap,), (heavier,), (dear, replace(cheap, run=4))):
        assert found(*told).way == "incremental"
    assert code(found(dear)) == "CHEAPER_FULL"
    loss = price(found(dear), "incremental") - 5.0
    later = [past(number, "text", 5.0) for number in range(4, 1000)]
    waited = next(n for n in range(len(later)) if found(dear, *later[:n]).way == "incremental")
    assert (waited - 1) * 5.0 * REGRET < loss <= waited * 5.0 * REGRET


def test_the_text_costs_what_building_cost_until_it_has_run() -> None:
    """What the states take of it, the model says wrong by ten times."""
    found = weigh(case(past(1, "rebuild", 8.0)))
    assert price(found, "text") == pytest.approx(8.0)


def test_the_text_stands_for_signed_rows_and_these_for_it() -> None:
    """With what the one adds that is taken, not with what the other would."""
    ways = replace(WAYS, text=WAYS.text._replace(merging=COUNTING))
    ran = replace(past(1, "rebuild", 4.0), way="text", program="other", merges=False)
    merged = replace(case(ran), ways=ways)
    assert price(weigh(merged), "text") == pytest.approx(4.0 * COUNTING)
    clean = replace(merged, evidence=replace(merged.evidence, merges=False))
    assert price(weigh(clean), "text") == pytest.approx(4.0)


def test_full_costs_more_after_changes_than_the_first_time() -> None:
    first = replace(past(1, "rebuild", 8.0), merges=False)
    assert price(weigh(case(first)), "rebuild") == pytest.approx(28.0)
    assert price(weigh(case(first)), "text") == pytest.approx(28.0)
    known = weigh(case(first, past(2, "text", 9.0)))
    assert price(known, "rebuild") == pytest.approx(9.0), "what another full way has shown"


def test_rows_that_need_no_merging_cost_less_again() -> None:
    """After a mirror was written anew, and once more when rows have gone from it."""
    merged, fresh = past(1, "rebuild", 8.0), replace(past(2, "rebuild", 2.0), merges=False)

    def rebuilding(*runs: PastRun, merges: bool) -> float:
        evidence = Evidence(runs, rows=LEAST_ROWS, merges=merges)
        return price(weigh(replace(case(), evidence=evidence)), "rebuild")

    assert rebuilding(merged, fresh, merges=True) == pytest.approx(8.0)
    assert rebuilding(merged, fresh, merges=False) == pytest.approx(2.0)
    assert rebuilding(merged, merges=False) == pytest.approx(8.0 / MERGING)
    text = replace(past(2, "text", 1.0), merges=False)
    assert rebuilding(merged, text, merges=False) == pytest.approx(1.0)


def test_full_runs_cost_what_they_did_when_as_many_rows_were_to_be_merged() -> None:
    """Whatever was merged in between, unless a newer run was far dearer with no more of them."""
    few = replace(past(1, "text", 0.8), unmerged=200_000)
    many = replace(past(2, "text", 2.3), unmerged=800_000)

    def alone(unmerged: int | None, *runs: PastRun) -> float:
        evidence = Evidence((few, many, *runs), rows=LEAST_ROWS, unmerged=unmerged)
        return price(weigh(replace(case(), evidence=evidence)), "text")

    assert alone(100) == alone(250_000) == pytest.approx(0.8)
    assert alone(600_000) == alone(9_000_000) == alone(None) == pytest.approx(2.3)
    slower = replace(past(3, "text", 1.7), unmerged=50_000)
    assert alone(200_000, replace(slower, in_tasks=1.5)) == pytest.approx(0.8)
    assert alone(200_000, slower) == pytest.approx(1.7)
    uncounted = replace(past(3, "text", 1.5), unmerged=None)
    assert alone(200_000, uncounted) == pytest.approx(0.8)
    assert alone(None, uncounted) == pytest.approx(1.5)


def test_one_full_way_tells_of_the_other_what_as_many_rows_to_merge_cost() -> None:
    many = replace(past(1, "text", 4.5), unmerged=1_300_000)
    few = replace(past(2, "rebuild", 3.1), unmerged=130_000)
    known = Evidence((many, few), rows=LEAST_ROWS, unmerged=75_000)
    assert price(weigh(replace(case(), evidence=known)), "text") == pytest.approx(3.1)
    known = replace(known, unmerged=1_000_000)
    assert price(weigh(replace(case(), evidence=known)), "text") == pytest.approx(4.5)


def test_after_one_bad_run_the_next_is_full() -> None:
    good = [past(1, "rebuild", 5.0), past(2, "incremental", 0.5)]
    assert weigh(case(*good)).way == "incremental"
    found = weigh(case(*good, past(3, "incremental", 80.0)))
    assert found.way == "text"
    assert code(found) == "CHEAPER_FULL"
    assert price(found, "incremental") == pytest.approx(80.0)


def runs_until_believed_again(bad: float, full: float) -> int:
    runs = [past(1, "rebuild", full), past(2, "text", full), past(3, "incremental", bad)]
    for number in range(4, 2000):
        found = weigh(case(*runs))
        if found.way == "incremental":
            return number - 4
        runs.append(past(number, "text", full, incremental=price(found, "incremental")))
    return 2000


@given(st.floats(1.1, 50), st.floats(0.5, 5))
def test_a_mistake_is_not_repeated_before_it_is_paid_for(factor: float, full: float) -> None:
    waited = runs_until_believed_again(factor * full, full)
    assert waited * full * REGRET >= (factor - 1) * full * (1 - 1e-9)
    assert (waited - 1) * full * REGRET <= (factor - 1) * full * (1 + 1e-9)


def test_older_runs_that_were_cheap_are_believed_once_the_bad_one_has_expired() -> None:
    runs = [past(1, "rebuild", 5.0), past(2, "incremental", 1.0), past(3, "incremental", 6.0)]
    runs += [past(n, "text", 5.0) for n in range(4, 7)]
    found = weigh(case(*runs))
    assert found.way == "incremental"
    assert price(found, "incremental") == pytest.approx(1.0)
    assert found.of("incremental").basis == "doubted", "a trial, which turns back as one"
    assert weigh(case(*runs[:2])).of("incremental").basis == "observed"


def test_what_a_newer_run_has_refuted_does_not_come_back() -> None:
    """The newest run was nearly as cheap as full, and 500 s were another time."""
    runs = [past(1, "rebuild", 5.0), past(2, "incremental", 500.0), past(3, "incremental", 6.0)]
    runs += [past(n, "text", 5.0) for n in range(4, 7)]
    found = weigh(case(*runs))
    assert found.way == "incremental"
    assert price(found, "incremental") <= 5.0, "by the model, not by what was refuted"


def test_the_answer_alone_is_run_once_where_increments_are_hardly_cheaper_than_building() -> None:
    """Nobody knows what it takes, and it is thought as dear as building: 0.25 s, and increments 0.4 s."""
    runs = [past(1, "rebuild", 0.45), past(2, "incremental", 0.4)]
    first = weigh(case(*runs))
    assert (first.way, code(first)) == ("text", "ANSWER_UNTRIED")
    runs.append(past(3, "text", 0.25, rebuild=0.45, incremental=0.4))
    assert weigh(case(*runs)).way == "text"
    dear = weigh(case(*runs[:2], past(3, "text", 0.44, rebuild=0.45, incremental=0.4)))
    assert dear.way == "incremental"
    other = replace(past(3, "text", 0.44, rebuild=0.45, incremental=0.4), program="other")
    assert weigh(case(*runs[:2], other)).way == "incremental", "known by the other program of it"
    assert weigh(replace(case(*runs[:2]), is_shared=True)).way == "incremental"
    modelled = Candidate("incremental", WORK.times(3))
    unseen = replace(case(runs[0]), ways=replace(WAYS, incremental=modelled))
    assert 0.36 < price(weigh(unseen), "incremental") < 0.45
    assert weigh(unseen).way == "incremental", "the model alone speaks against nothing"


def test_no_answer_alone_is_run_where_increments_are_clearly_cheaper() -> None:
    assert weigh(case(past(1, "rebuild", 0.45), past(2, "incremental", 0.3))).way == "incremental"


def test_a_first_build_that_was_dear_is_not_believed_once_the_answer_alone_was_cheap() -> None:
    """Young Java took 4 s, and later takes 1.2 s for the answer alone and 1.3 s with its states."""
    runs = [replace(past(1, "rebuild", 4.0), is_first=True), past(2, "text", 1.2)]
    found = weigh(case(*runs, missing="states/x"))
    assert price(found, "rebuild") == 1.2
    as_written = replace(runs[0], merges=False)
    merged = weigh(case(as_written, runs[1], missing="states/x"))
    assert price(merged, "rebuild") == 1.2, "the answer merged what the next run will"
    assert found.way == "rebuild", "building costs nothing more, as far as is known"
    dear = weigh(case(*runs, past(3, "rebuild", 4.0)))
    assert price(dear, "rebuild") == 4.0, "that was Java grown old"


SMALL, LARGE = 10**3, 10**7
RUNS = st.lists(st.booleans(), min_size=60, max_size=60)


@given(
    RUNS,
    st.floats(0.05, 0.95),
    st.floats(1.05, 6),
    st.floats(1.0, 1.5),
    st.sampled_from([1.0, 2.5]),
)
def test_small_and_large_changes_in_any_order_cost_little_more_than_best(
    are_large: list[bool], small: float, large: float, building: float, merging: float
) -> None:
    """The text costs 1 after a large change, which writes mirrors anew, and as much or more after a small one.

    Best is who knows all that comes. The first mistakes are beside.
    """
    history, missing, spent = [past(1, "rebuild", building)], "", 0.0
    have, lack = 0.0, 10.0 * len(are_large)
    for number, is_large in enumerate(are_large, start=2):
        text = 1.0 if is_large else merging
        rebuild = building if is_large else max(building, merging)
        took = {"rebuild": rebuild, "text": text}
        work, size = WORK.times(3 if is_large else 0.2), LARGE if is_large else SMALL
        ways = replace(WAYS, incremental=Candidate("incremental", work))
        evidence = Evidence(history, rows=LEAST_ROWS, changed=size, merges=not is_large)
        found = weigh(Case(ways, evidence, share=0.01, missing=missing))
        increments = large if is_large else small
        seconds = took.get(found.way, increments)
        prices = {one.way: one.price for one in found.predictions}
        run = replace(past(number, found.way, seconds, **prices), changed=size, merges=not is_large)
        is_extended = found.way == "incremental"
        history.append(replace(run, expected=work, measured=work) if is_extended else run)
        missing = "states/x" if found.way == "text" else ""
        spent += seconds
        have, lack = (
            min(have + min(increments, rebuild), lack + rebuild),
            min(have, lack) + text,
        )
    most = 1.4 if merging == 1.0 else 1.6
    assert spent <= most * min(have, lack) + 2 * (large + max(building, merging))


def test_what_was_weighed_is_stored() -> None:
    stored = weigh(case(past(1, "rebuild", 5.0), past(2, "incremental", 0.5))).to_dict()
    assert stored["way"] == stored["program"] == "incremental"
    assert stored["cpu_seconds"] == 0.5
    assert stored["rows_read"] == 1_000_000
    assert {one["way"]: one["basis"] for one in stored["alternatives"]} == {
        "incremental": "observed",
        "rebuild": "observed",
        "text": "modelled",
    }


@given(st.floats(0.1, 10), COSTS)
def test_a_larger_change_is_expected_to_cost_more_in_proportion(
    factor: float, seconds: float
) -> None:
    evidence = Evidence([past(1, "incremental", seconds)])
    found = predict(evidence, "incremental", Candidate("incremental", WORK.times(factor)))
    starting = min(STARTING, MOST_STARTING * seconds)
    assert found.price == pytest.approx(starting + factor * (seconds - starting))


def test_full_costs_more_as_the_sources_grow() -> None:
    then = replace(past(1, "rebuild", 6.0), rows=LEAST_ROWS)
    known = weigh(with_rows(case(then), 2 * LEAST_ROWS))
    assert price(known, "rebuild") == pytest.approx(12.0)
    assert price(known, "text") == pytest.approx(12.0)


def test_a_large_change_that_was_dear_is_tried_once_and_never_builds_states_for_ever() -> None:
    """Text costs 4, building the states 8, and increments 60."""
    took = {"incremental": 60.0, "rebuild": 8.0, "text": 4.0}
    runs, taken, missing = [past(1, "rebuild", 8.0)], [], ""
    for number in range(2, 60):
        found = weigh(case(*runs, share=0.8, missing=missing))
        prices = {one.way: one.price for one in found.predictions}
        runs.append(past(number, found.way, took[found.way], **prices))
        taken.append(found.way)
        missing = "states/x" if found.way == "text" else ""
    assert taken.count("rebuild") <= 2
    assert taken.count("incremental") <= 2


def test_what_others_keep_is_not_built_anew_because_that_is_cheap_for_one() -> None:
    alone = case(past(1, "rebuild", 5.0), past(2, "text", 5.5), past(3, "incremental", 6.0))
    assert weigh(alone).way == "rebuild"
    assert weigh(replace(alone, is_shared=True)).way == "text"


def test_what_others_keep_is_kept_by_increments_while_that_pays() -> None:
    """Left, a view's own states would have to be built anew, and what it shares with others along with them."""
    saved = [past(n, "incremental", 0.2, rebuild=1.0, text=1.0) for n in range(3, 9)]
    runs = [past(1, "rebuild", 1.6), past(2, "text", 1.0), *saved, past(9, "incremental", 1.05)]
    for is_shared in (False, True):
        found = weigh(replace(case(*runs), is_shared=is_shared))
        assert (found.way, code(found)) == ("incremental", "CHEAPER_FULL")
        assert found.reasons[1].code == "STATES_PAY"


def ways_of(cost: Callable[[int, str], float], sizes: Sequence[int], runs: int) -> str:
    """The ways of runs after changes of sizes in turn, by their first letters."""
    history, ways = [past(1, "rebuild", cost(1, "rebuild"))], ""
    for number in range(2, runs):
        changed = sizes[number % len(sizes)]
        evidence = Evidence(history, rows=LEAST_ROWS, changed=changed)
        way = weigh(replace(case(), evidence=evidence)).way
        history.append(replace(past(number, way, cost(number, way)), changed=changed))
        ways += way[0]
    return ways


def test_finding_out_costs_as_much_whatever_sizes_changes_have() -> None:
    """A trial after a change of any size is the one trial that full runs have paid for."""
    dear, full = 20.0, 10.0
    ways = ways_of(
        lambda _, way: dear if way == "incremental" else full, (10**3, 10**5, 10**7), 200
    )
    mistake = dear - full
    assert mistake < mistake * ways.count("i") <= REGRET * full * (len(ways) + 1) + mistake


def test_cheap_runs_after_small_changes_do_not_keep_large_ones_from_being_tried_again() -> None:
    def cost(number: int, way: str) -> float:
        if way != "incremental":
            return 4.0
        is_large = number % 2 == 1
        return 20.0 if is_large and number < 10 else 1.0

    ways = ways_of(cost, (1_000, 300_000), 180)
    assert ways[-20:] == "i" * 20


def test_when_increments_become_dear_not_every_size_learns_it_for_itself() -> None:
    def cost(number: int, way: str) -> float:
        return 4.0 if way != "incremental" else 0.5 if number < 50 else 20.0

    sizes = [10**3 * 4 ** (n * 7 % 6) for n in range(6)]
    ways = ways_of(cost, sizes, 150)
    assert ways[:48] == "i" * 48
    assert ways[48:].count("i") <= 4


def test_a_large_change_does_not_make_full_cost_what_the_first_build_foretold() -> None:
    first = replace(past(1, "rebuild", 4.0), merges=False, changed=10**7)
    later = replace(past(2, "rebuild", 4.2), changed=200_000)
    evidence = Evidence([first, later], rows=LEAST_ROWS, changed=3_000_000)
    assert price(weigh(replace(case(), evidence=evidence)), "rebuild") == pytest.approx(4.2)
