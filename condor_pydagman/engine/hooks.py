"""The moments of a run at which features have a say: see `feature.Feature`, which has them all.

The core calls what is in these tuples, and knows no feature by name.  Of a DAG that uses none they
are empty, and cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from condor_pydagman.engine.inputs import LogEvent, QueuedJob, QueueListed
from condor_pydagman.engine.jobs import Change, Jobs
from condor_pydagman.engine.report import GroupReport, Shown
from condor_pydagman.vocabulary import JournalRecord

if TYPE_CHECKING:
    from condor_pydagman.graph.grow import Growth

Records = Mapping[JournalRecord, Callable[[int, LogEvent], None]]
Events = Mapping[int, Callable[[int, LogEvent], None]]
Inputs = Mapping[type, Callable[[Any], None]]
NONE: Mapping[Any, Any] = MappingProxyType({})


class Hooks:
    """Methods of the features of a run, by moment, in the order of `features.FEATURES`.

    Attributes:
        records, attempt_records: what applies a journal record.
        events: what takes an event of the nodes log that the core does not take.
        inputs: what takes an input that the core does not take.
        replies: what takes an answer of a helper.
        Others: as the methods of `feature.Feature` that have these names.
    """

    records: Records
    attempt_records: Records
    events: Events
    inputs: Inputs
    replies: Inputs
    after_starts: tuple[Callable[[], None], ...]
    before_done: tuple[Callable[[int], bool], ...]
    before_failed: tuple[Callable[[int, str], bool], ...]
    before_retry: tuple[Callable[[int, str], str], ...]
    begins: tuple[Callable[[], None], ...]
    begins_anew: tuple[Callable[[int], None], ...]
    blocks_pre_scripts: tuple[Callable[[], bool], ...]
    blocks_submits: tuple[Callable[[], str], ...]
    deadline: tuple[Callable[[], float | None], ...]
    decided_anew: tuple[Callable[[], Collection[int]], ...]
    details: tuple[Callable[[int], str], ...]
    done: tuple[Callable[[int], None], ...]
    doubt: tuple[Callable[[], None], ...]
    dry_run: tuple[Callable[[], None], ...]
    enforce: tuple[Callable[[], None], ...]
    enforce_deadline: tuple[Callable[[], float | None], ...]
    grown: tuple[Callable[[Growth, Sequence[int]], None], ...]
    has_left: tuple[Callable[[QueuedJob], bool], ...]
    has_more: tuple[Callable[[], bool], ...]
    holds_back: tuple[Callable[[int], bool], ...]
    idle_changed: tuple[Callable[[int, int], None], ...]
    info: tuple[Callable[[], Iterable[tuple[str, str]]], ...]
    is_deciding: tuple[Callable[[int], bool], ...]
    is_needed: tuple[Callable[[int], bool], ...]
    is_own_hold: tuple[Callable[[LogEvent], bool], ...]
    job_event: tuple[Callable[[int, LogEvent, Change], None], ...]
    jobs_seen: tuple[Callable[[int, Jobs], None], ...]
    keeps_halted_dag: tuple[Callable[[], bool], ...]
    listed: tuple[Callable[[QueueListed], bool], ...]
    may_leave: tuple[Callable[[int], bool], ...]
    node_left: tuple[Callable[[int], None], ...]
    node_moved: tuple[Callable[[int, int, int], None], ...]
    node_of: tuple[Callable[[LogEvent], int | None], ...]
    obstacle_to_steer: tuple[Callable[[int], str], ...]
    own_event: tuple[Callable[[LogEvent], None], ...]
    own_jobs: tuple[Callable[[], tuple[int, int, int]], ...]
    places_shared: tuple[Callable[[], int], ...]
    pop_hopeless: tuple[Callable[[], list[int]], ...]
    remove_failed: tuple[Callable[[int], None], ...]
    replayed: tuple[Callable[[], None], ...]
    rescue_lines: tuple[Callable[[int], tuple[str, ...]], ...]
    resumed: tuple[Callable[[str], None], ...]
    retried: tuple[Callable[[int], None], ...]
    run_by_person: tuple[Callable[[int], None], ...]
    run_ended: tuple[Callable[[int, int, bool], None], ...]
    run_excused: tuple[Callable[[int], None], ...]
    shown: tuple[Callable[[], Iterable[Shown]], ...]
    started: tuple[Callable[[], None], ...]
    submits: tuple[Callable[[int], bool], ...]
    takes_event: tuple[Callable[[LogEvent], bool], ...]
    tells_end: tuple[Callable[[int], bool], ...]
    under_way: tuple[Callable[[], bool], ...]
    validate: tuple[Callable[[], None], ...]
    was_done: tuple[Callable[[int], None], ...]
    wants_history: tuple[Callable[[], bool], ...]
    why_halted: tuple[Callable[[], Iterable[str]], ...]
    why_incomplete: tuple[Callable[[], str], ...]
    work: tuple[Callable[[], None], ...]
    seen_to_run: tuple[Callable[[int], bool], ...]
    set_by_person: tuple[Callable[[int], None], ...]
    waits_again: tuple[Callable[[int], None], ...]
    before_starts: tuple[Callable[[], None], ...]
    before_removals: tuple[Callable[[], None], ...]
    before_end: tuple[Callable[[], bool], ...]
    before_revived: tuple[Callable[[], None], ...]
    before_taken_back: tuple[Callable[[int], None], ...]
    done_unrun: tuple[Callable[[int], None], ...]
    event_taken: tuple[Callable[[], None], ...]
    group_reports: tuple[Callable[[Collection[int]], Iterable[GroupReport]], ...]
    runs_at: tuple[Callable[[int], tuple[str, str]], ...]
    starts_over: tuple[Callable[[int], bool], ...]
    adopted: tuple[Callable[[int], None], ...]

    __slots__ = (
        "adopted",
        "after_starts",
        "attempt_records",
        "before_done",
        "before_end",
        "before_failed",
        "before_removals",
        "before_retry",
        "before_revived",
        "before_starts",
        "before_taken_back",
        "begins",
        "begins_anew",
        "blocks_pre_scripts",
        "blocks_submits",
        "deadline",
        "decided_anew",
        "details",
        "done",
        "done_unrun",
        "doubt",
        "dry_run",
        "enforce",
        "enforce_deadline",
        "event_taken",
        "events",
        "group_reports",
        "grown",
        "has_left",
        "has_more",
        "holds_back",
        "idle_changed",
        "info",
        "inputs",
        "is_deciding",
        "is_needed",
        "is_own_hold",
        "job_event",
        "jobs_seen",
        "keeps_halted_dag",
        "listed",
        "may_leave",
        "node_left",
        "node_moved",
        "node_of",
        "obstacle_to_steer",
        "own_event",
        "own_jobs",
        "places_shared",
        "pop_hopeless",
        "records",
        "remove_failed",
        "replayed",
        "replies",
        "rescue_lines",
        "resumed",
        "retried",
        "run_by_person",
        "run_ended",
        "run_excused",
        "runs_at",
        "seen_to_run",
        "set_by_person",
        "shown",
        "started",
        "starts_over",
        "submits",
        "takes_event",
        "tells_end",
        "under_way",
        "validate",
        "waits_again",
        "wants_history",
        "was_done",
        "why_halted",
        "why_incomplete",
        "work",
    )

    def __init__(
        self,
        records: Records = NONE,
        attempt_records: Records = NONE,
        events: Events = NONE,
        inputs: Inputs = NONE,
        replies: Inputs = NONE,
    ) -> None:
        for moment in self.__slots__:
            setattr(self, moment, ())
        self.records = records
        self.attempt_records = attempt_records
        self.events = events
        self.inputs = inputs
        self.replies = replies
