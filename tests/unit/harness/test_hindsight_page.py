"""The page of choices in hindsight, as a reader sees it."""

from __future__ import annotations

from typing import Any

from tests.campaigns.hindsight_page import page

TAKEN = {"kept": 1.0, "wrong": 3.0, "left": 3.0}


def one(number: int, group: str) -> dict[str, Any]:
    views = group.split()
    sides = {
        "chosen": {
            view: told("full" if view == "wrong" else "incremental", view) for view in views
        },
        "incremental": {view: told("incremental", seconds=1.0) for view in views},
        "full": {view: told("full", seconds=3.0) for view in views},
    }
    of = {"group": group, "number": number, "commit": f"at{min(number, 12)}"}
    return {**of, "nature": "clustered", "share": 0.01, **sides}


def told(choice: str, view: str = "", seconds: float = 0.0) -> dict[str, Any]:
    reasons = ["STATE_MISSING"] if view == "left" else []
    taken = TAKEN.get(view, seconds)
    return {
        "choice": choice,
        "switched": False,
        "seconds": taken,
        "reasons": reasons,
        "expected": taken,
    }


def test_a_reader_sees_each_cell_and_what_was_missed() -> None:
    rounds = [one(number, "kept wrong left") for number in (11, 12, 13)]
    unfinished = [one(11, "unfinished")]
    drawn = page(
        {
            "scale": 1.0,
            "repetitions": 5,
            "spark": "4",
            "cores": 2,
            "machine": "a",
            "slacktide": "0",
            "different": {"kept wrong left": {"chosen": []}},
            "rounds": rounds + unfinished,
        }
    )
    lines = drawn.splitlines()
    assert any("Slacktide 0 (kept to left on at11, then at12)." in line for line in lines)
    assert "| kept | · | · | i 1.00 | · | · | · | · | · | · | · |" in lines
    assert "| wrong | · | · | **f 3.00** | · | · | · | · | · | · | · |" in lines
    assert "| left | · | · | - | · | · | · | · | · | · | · |" in lines
    assert (
        "| wrong | clustered | 1.00% | full | 3.00 | 1.00 | 3.00 | 0.00 | no | no | yes |" in lines
    )
    assert any(
        "took 21 s of CPU, increments always 9 s, full always 27 s" in line for line in lines
    )
    assert any("the cheaper of both each time 9 s." in line for line in lines)
    assert any(
        "**Right: 50.0%**." in line and "is near the best in 50.0%." in line for line in lines
    )
    assert any("not near the best, 1 are so by more than noise." in line for line in lines)
    assert any("would not be near in 0 of all cells" in line for line in lines)
    assert "unfinished" not in drawn
