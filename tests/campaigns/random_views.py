"""Random views over change streams that hold every nasty case, against batch after every run.

At full length, resumable by round; several processes may share an output, each with rounds of its own:

    python -m tests.campaigns.random_views --seeds 1300 --batches 10 --seed 1 \
        --out tests/campaigns/random_views.json [--part 0/2]

The 1,300 seeds give more than 1,500 views: over each fifth stands another one. A round is 25 seeds in one workspace
over one stream; every tenth goes on with the metamorphic moves, and in every fourth views remember all joins that they
may (`remembered_joins`), whatever that costs. What is wrong is shrunk and written to
`tests/spark/random_views/found`, one case for each kind of failure.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.harness.eager import eagerly
from tests.harness.quick import COMPILED, QUICK
from tests.harness.random_sql.collations import is_collated
from tests.harness.random_sql.nodes import sql
from tests.harness.random_sql.rounds import play
from tests.harness.random_sql.shrinking import Case, shrinker
from tests.harness.versions import versions

FOUND = Path(__file__).parents[1] / "spark" / "random_views" / "found"
ROUND = 25
MOVES_EVERY = 10
EAGER_EVERY = 4


def main() -> int:
    """Run the campaign; rounds that the output holds already are not run again."""
    from slacktide.spark.sessions.session import start_session

    arguments = _arguments()
    found = _resumed(arguments)
    collate = any(is_collated(seed) for _, seeds in _rounds(arguments) for seed in seeds)
    spark = start_session("random-views", conf=COMPILED if collate else QUICK)
    made = versions(spark)
    shrunk = {signature(view["wrong"]) for view in _views(found) if view["wrong"]}
    part, parts = map(int, arguments.part.split("/"))
    for number, seeds in _rounds(arguments):
        if number % parts != part or any(done["number"] == number for done in found["rounds"]):
            continue
        with eagerly(really=number % EAGER_EVERY == EAGER_EVERY - 1):
            played, failures = play(
                spark,
                number,
                seeds,
                batches=arguments.batches,
                moves=number % MOVES_EVERY == MOVES_EVERY - 1,
            )
            for failure in failures:
                told = signature(failure.wrong)
                sys.stdout.write(f"{failure.origin}: {failure.wrong[:200]}\n")
                if told not in shrunk and len(shrunk) < arguments.shrink:
                    write_found(shrinker(spark).shrink(failure))
                shrunk.add(told)
        with locked(arguments.out):
            found |= _resumed(arguments)
            found["rounds"] = sorted(
                [*found["rounds"], {**made, **played.to_dict()}], key=lambda one: one["number"]
            )
            found["summary"] = summary(found)
            arguments.out.write_text(as_text(found))
    sys.stdout.write(json.dumps(found.get("summary", {}), indent=1) + "\n")
    return 1 if any(view["wrong"] for view in _views(found)) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1300, help="of views")
    parser.add_argument("--batches", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shrink", type=int, default=20, help="how many failures are shrunk")
    parser.add_argument("--part", default="0/1", help="rounds of this remainder alone")
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Have one process at a time write to a file."""
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _resumed(arguments: argparse.Namespace) -> dict[str, Any]:
    """What the output holds already.

    Raises:
        SystemExit: it is of a campaign with another seed.
    """
    asked = {key: getattr(arguments, key) for key in ("seed", "batches", "seeds")}
    if not arguments.out.exists():
        return {**asked, "rounds": []}
    found: dict[str, Any] = json.loads(arguments.out.read_text())
    if any(found[key] != value for key, value in asked.items()):
        raise SystemExit(f"{arguments.out} is of another campaign; remove it or name another file")
    return found


def _rounds(arguments: argparse.Namespace) -> Iterator[tuple[int, Sequence[int]]]:
    """The number of each round and the seeds of its views, none of which another campaign has."""
    first = arguments.seed * 1_000_000
    for number, start in enumerate(range(0, arguments.seeds, ROUND)):
        end = min(start + ROUND, arguments.seeds)
        yield number, range(first + start, first + end)


def signature(wrong: str) -> str:
    """What failures of one cause have in common, more or less: their text without numbers."""
    text = wrong.split(": ", 1)[-1] if wrong.startswith("run ") else wrong
    if text.startswith("different"):
        return text  # two differences may have two causes
    return re.sub(r"[\d#]+|x\d+|'[^']*'", "", text)[:160]


def write_found(case: Case) -> Path:
    """Write a case as the next fixture."""
    FOUND.mkdir(parents=True, exist_ok=True)
    number = 1 + max((int(path.stem) for path in FOUND.glob("*.json")), default=0)
    path = FOUND / f"{number:04}.json"
    path.write_text(json.dumps(case.to_dict(), indent=1) + "\n")
    sys.stdout.write(f"  {path.name}: {sql(case.view)}\n")
    return path


# ------------------------------------------------------------------------- result


def _views(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [view for done in found["rounds"] for view in done["views"]]


def summary(found: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of a campaign.

    A view is *lively* when at least half of its answers have rows and at least half of its runs after
    the first changed it; it is *maintained* when no run after a batch was full, and not all fail. Some
    batches change nothing on purpose, and others only sources that a view does not read. Moves take states and plans
    away by hand, after which a view is built anew: their runs are compared, and counted apart.
    """
    views, batches = _views(found), found["batches"]
    plain = [done for done in found["rounds"] if len(done["cases"]) <= 1 + batches]
    moved = [done for done in found["rounds"] if len(done["cases"]) > 1 + batches]
    later = [method for view in views for method in view["methods"][1:]]
    answers = Counter(letter for view in views for letter in view["answers"][1:])
    worked = [method for method in later if method in "iF"]
    total = max(len(views), 1)
    return {
        "views": len(views),
        "runs": sum(len(view["methods"]) for view in views),
        "refused by Spark": sum(len(done["refused"]) for done in found["rounds"]),
        "wrong": [{"name": v["name"], "wrong": v["wrong"][:300]} for v in views if v["wrong"]],
        "failed where batch fails": sum(method == "x" for method in later),
        "answers": {
            "not empty": _share(answers["="] + answers["*"], answers.total()),
            "changed": _share(answers["*"], answers.total()),
        },
        "lively views": _share(sum(_is_lively(view) for view in views), total),
        "maintained views": _share(sum(_is_maintained(view, batches) for view in views), total),
        "incremental runs": _share(worked.count("i"), len(worked)),
        "why full": _reasons(plain),
        "why full, with moves": _reasons(moved),
        "cases": dict(Counter(case for done in found["rounds"] for case in done["cases"])),
        "constructs": dict(
            sorted(Counter(name for view in views for name in view["constructs"]).items())
        ),
    }


def _reasons(rounds: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many views had a full run for each reason."""
    views = (view for done in rounds for view in done["views"])
    return dict(Counter(reason for view in views for reason in view["reasons"]).most_common())


def _is_lively(view: Mapping[str, Any]) -> bool:
    answers: str = view["answers"][1:]
    filled = len(answers) - answers.count("-")
    return 2 * filled >= len(answers) and 2 * answers.count("*") >= len(answers)


def _is_maintained(view: Mapping[str, Any], batches: int) -> bool:
    later: str = view["methods"][1 : 1 + batches]
    return "F" not in later and set(later) != {"x"}


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


def as_text(found: Mapping[str, Any]) -> str:
    """JSON with a line for each view, so that two results can be compared."""
    rounds = []
    for done in found["rounds"]:
        views = ",\n".join(f"   {json.dumps(view)}" for view in done["views"])
        rest = {key: value for key, value in done.items() if key != "views"}
        rounds.append(f'  {json.dumps(rest)[:-1]}, "views": [\n{views}]}}')
    rest = {key: value for key, value in found.items() if key != "rounds"}
    head = json.dumps(rest, indent=1).removesuffix("\n}")
    listed = ",\n".join(rounds)
    return f'{head},\n "rounds": [\n{listed}]\n}}\n'


if __name__ == "__main__":
    raise SystemExit(main())
