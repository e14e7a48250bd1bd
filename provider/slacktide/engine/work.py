"""One view of a run under way: what is known of it, its plan, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from slacktide.algebra.view import ReadView
from slacktide.common.chain_ids import is_of_view
from slacktide.engine.definitions.drafts import ViewDraft
from slacktide.engine.sources.pins import Sightings
from slacktide.errors import (
    DamagedFileError,
    InvariantError,
    SlacktideError,
    SourceError,
    StorageError,
)
from slacktide.optimizer.plan import ViewPlan
from slacktide.spark.measures.cost import Cost
from slacktide.spark.tasks.task import Outcome, Query
from slacktide.store.record import ViewRecord


@dataclass(slots=True)
class Work:
    """One view of the run: what is known of it, its plan, and what came of it.

    Attributes:
        switched: whether it turned back to a full run without states, as there was more to do than expected.
        given_up: what that cost which was left to the due refresh.
        seen: what a store told of landed files before programs read them; one for all views of the run.
    """

    name: str
    sql: str
    view: ReadView
    plan: ViewPlan
    query: Query
    record: ViewRecord | None
    draft: ViewDraft | None = None
    outcome: Outcome | None = None
    error: SlacktideError | None = None
    switched: bool = False
    given_up: Cost | None = None
    seen: Sightings = field(default_factory=dict)

    @property
    def is_done(self) -> bool:
        """Whether the run has something to commit for the view."""
        return self.outcome is not None or self.is_counted or self.is_only_added

    @property
    def is_counted(self) -> bool:
        """Whether the run does nothing for the view but count a refresh of its period."""
        return self.error is None and self.plan.program is None and self.plan.turn is not None

    @property
    def is_only_added(self) -> bool:
        """Whether the run writes the definition of the view alone, as it is new and paused."""
        return self.error is None and self.draft is not None and self.plan.program is None


def is_of_all(error: SlacktideError) -> bool:
    """Whether a failure is not that of one view alone, as that of a damaged answer is."""
    if isinstance(error, DamagedFileError):
        return not is_of_view(error.chain)
    return isinstance(error, SourceError | StorageError | InvariantError)
