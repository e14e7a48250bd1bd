"""What the planner is told of a view at planning time."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from slacktide.common.reasons import Reason
from slacktide.optimizer.costs import Evidence
from slacktide.optimizer.plan import Versions
from slacktide.optimizer.programs.derivation import Premises
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.rule_parts.foreign_keys import ForeignKey
from slacktide.optimizer.statistics import Statistics
from slacktide.optimizer.ways.others import NOBODY, Others
from slacktide.optimizer.ways.remembered_joins import Question


@dataclass(frozen=True, slots=True)
class Situation:
    """What the planner is told of a view at planning time.

    Attributes:
        start: versions of the last answer by source; empty when there is none.
        end: versions that the next answer is to be made of.
        share: pending change over the size of the view's sources, both in rows or both in bytes.
        states: the versions of each state that exists, by chain id; without an answer, of each that goes with those below it.
        policy: ``auto``, ``incremental`` or ``full``.
        token: log number of the last change of the view's definition or versions; see `ViewPlan`.
        mirrors: by source, the version up to which its mirror is compacted.
        rebuilds: a state that another view of the run builds anew, or an empty text.
        kept: without an answer, the versions of the states that it can be made from; see
            `kept_versions`.
        foreign_keys: those that hold at `start`, and are checked to hold at `end` by the run.
        anew: why no run goes on from an answer that is there; none where one does, or where there is no answer.
        statistics: what is known of sources and of what is stored.
        evidence: the view's past runs.
        remembers: the chains of joins that the view remembers besides what its operators need.
        is_shared: whether other views keep a state of this one.
        others: what other views keep.
        stumbles: whether a program of the view failed lately, over a row or to Spark, where the author's text did not.
        append_only: the sources of which no row is ever taken away, by declaration.
        later: as of `case.Case`.
        netted: the sources whose changes are netted, see `net_changes`.
        is_apart: whether the answer may not follow from the states of its versions; see `determinacy`.
        caught: of a run without an answer that goes on from where others have brought the view's states, or from those
            that the answer was not made from; None where there are none.
    """

    start: Versions
    end: Versions
    share: float
    states: Mapping[str, Versions]
    policy: str
    token: int
    mirrors: Mapping[str, int] = field(default_factory=dict)
    rebuilds: str = ""
    kept: Versions = field(default_factory=dict)
    foreign_keys: frozenset[ForeignKey] = frozenset()
    anew: tuple[Reason, ...] = ()
    statistics: Statistics = field(default_factory=Statistics)
    evidence: Evidence = field(default_factory=Evidence)
    remembers: tuple[str, ...] = ()
    is_shared: bool = False
    others: Others = NOBODY
    stumbles: bool = False
    append_only: frozenset[str] = frozenset()
    later: int | None = None
    netted: frozenset[str] = frozenset()
    is_apart: bool = False
    caught: Situation | None = None

    @property
    def adds_signed_rows(self) -> bool:
        """Whether an answer alone is of signed rows where it can be: not where a row among them has made a program fail."""
        return self.evidence.merges and not self.stumbles

    @property
    def changed(self) -> frozenset[str]:
        """The sources that have changed since the answer."""
        return frozenset(name for name, at in self.end.items() if at != self.start.get(name))

    def without(self, chains: Collection[str]) -> Situation:
        """The same, where some joins are remembered no longer."""
        return replace(self, remembers=tuple(one for one in self.remembers if one not in chains))

    def question(self, name: str, analysis: Maintainability, changed: frozenset[str]) -> Question:
        """Which joins a view remembers, and by which program it goes on from its answer.

        Args:
            name: of the view.
            analysis: of its relation.
            changed: the sources that have changed.
        """
        premises = Premises(self.foreign_keys, netted=self.netted, statistics=self.statistics)
        return Question(
            name,
            analysis,
            changed,
            premises,
            self.evidence,
            self.start,
            self.states,
            self.others,
            self.later,
        )
