"""Reasons: every decision that a user could wonder about has a code and a sentence.

The table is drawn into the docs. A reason may carry a detail, such as the operator it is about.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from slacktide.errors import InvariantError

SENTENCES: Final = MappingProxyType(
    {
        "ANSWER_UNTRIED": "no run of the answer alone is known, and it may be cheapest ({detail})",
        "CHANGE_FAILS": "a row of the change fails in the query, so its text ran over all rows ({detail})",
        "CHANGE_SMALL": "a small share of the sources has changed ({detail})",
        "CHANGE_TOO_LARGE": "the pending change is too large a share of the sources ({detail})",
        "CHEAPER_FULL": "computing the view in full is expected to be cheaper ({detail})",
        "CHEAPER_INCREMENTAL": "increments are expected to be cheaper than computing the view in full ({detail})",
        "CLOCK": "the query asks for the time ({detail}), which is fixed anew in every run",
        "COMPACTION": "the pieces of the chain have cost more to read than they cost to merge ({detail})",
        "EARLY_FAILS": "a refresh before the due one failed, so all is left to that ({detail})",
        "ENGINE_CHANGED": "another Spark or Java made the answer, and may have made it otherwise ({detail})",
        "FIRST_RUN": "there is no answer yet to go on from",
        "INCREMENTS_UNTRIED": "increments are run to find out what they cost now ({detail})",
        "JOIN_FAILS": "a join that was to be remembered cannot be computed whole ({detail})",
        "NO_CHANGE": "no source of the view has changed",
        "NON_DETERMINISTIC_EXPRESSION": "{detail} gives another value each time it is asked",
        "NOT_DUE": "the answer is due at the last refresh of the period ({detail})",
        "OPERATOR_NOT_INCREMENTAL": "{detail} is computed anew from the sources",
        "POLICY": "the view's policy is {detail}",
        "PROGRAM_REFUSED": "Spark refuses the program of the change, so the query's text ran over all rows ({detail})",
        "REBUILD_DIFFERS": "Slacktide's form of the query has other types than Spark's ({detail})",
        "RECURSIVE_QUERY": "the query is recursive",
        "REFERENCE_BROKEN": "the answer went by a foreign key that does not hold ({detail})",
        "RUNTIME_GUARD": "increments were given up midway, as they wrote or took more than the plan allows ({detail})",
        "SEARCH_CUT": "the search for a plan ended when its budget was spent, so a cheaper one may exist",
        "STALE_PLAN": "what the plan started from has moved, so it was made again ({detail})",
        "STATES_LEFT": "what increments would save does not pay for building the states yet ({detail})",
        "STATES_KEPT": "the answer is made from what is remembered already",
        "STATES_PAY": "keeping the states, or building them, costs less than they save ({detail})",
        "STATE_MISSING": "what the view needs to remember is not there ({detail})",
        "STORED_EARLY": "the answer goes on from what refreshes before it have stored ({detail})",
        "UNGROUPABLE_TYPE": "rows of type {detail} cannot be told apart by grouping",
        "UNREADABLE_EXPRESSION": "the expression {detail} is none that Slacktide knows",
        "UNREADABLE_NODE": "the operator {detail} is none that Slacktide knows",
        "UNSTORABLE_TYPE": "no file can have values of type {detail}, which would have to be remembered",
    }
)


@dataclass(frozen=True, slots=True)
class Reason:
    """A code of `SENTENCES` and what it is about."""

    code: str
    detail: str = ""

    def __post_init__(self) -> None:
        if self.code not in SENTENCES:
            raise InvariantError(f"no reason has the code {self.code!r}")

    def __str__(self) -> str:
        return f"{self.code}({self.detail})" if self.detail else self.code

    @property
    def sentence(self) -> str:
        """The reason in words, without a full stop."""
        return str(SENTENCES[self.code]).format(detail=self.detail)

    @classmethod
    def parse(cls, text: str) -> Reason:
        """Read what `str` wrote."""
        _, bracket, rest = text.partition("(")
        return cls(code_of(text), rest.removesuffix(")") if bracket else "")


def code_of(text: str) -> str:
    """The code of a reason that `str` wrote, be it of another version."""
    return text.partition("(")[0]
