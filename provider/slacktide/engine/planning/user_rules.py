"""Rules of users for the plan space, from the packages that are installed (tempura.md §3.3).

A package names them in the entry points of the group `slacktide.rules`: each is a tuple of `MemoRule`. They hold
wherever the package is installed, and are tried where the refreshes of a period are planned.
"""

from __future__ import annotations

from collections import Counter
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from slacktide.errors import SetupError
from slacktide.optimizer.expand import all_rules
from slacktide.optimizer.memo.rule import MemoRule

GROUP: Final = "slacktide.rules"


def user_rules() -> tuple[MemoRule, ...]:
    """The rules of all installed packages, in the order of the names of their entry points.

    Raises:
        SetupError: an entry point cannot be loaded, is no tuple of rules, or has one of a name that is taken.
    """
    points = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    found = tuple(rule for point in points for rule in _loaded(point))
    if not found:
        return ()
    names = Counter(rule.name for rule in (*all_rules(), *found))
    taken = next((rule.name for rule in found if names[rule.name] > 1), None)
    if taken is not None:
        raise SetupError(f"two rules have the name {taken}", hint="give the rule of yours another")
    return found


def _loaded(point: EntryPoint) -> tuple[MemoRule, ...]:
    try:
        rules = point.load()
    except Exception as failure:  # it is the user's code
        raise SetupError(
            f"the rules {point.name} cannot be loaded from {point.value}: {failure!r}",
            hint="mend that package, or uninstall it",
        ) from failure
    if not isinstance(rules, tuple) or not all(isinstance(rule, MemoRule) for rule in rules):
        raise SetupError(
            f"the rules {point.name} are {point.value}, which is no tuple of MemoRule",
            hint="let the entry point name a tuple, as in (rule,)",
        )
    return rules
