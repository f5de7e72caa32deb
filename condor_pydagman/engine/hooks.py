"""The moments of a run at which features have a say: see `feature.Feature`, which has them all.

The core calls what is in these tuples, and knows no feature by name.  Of a DAG that uses none they
are empty, and cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from condor_pydagman.engine.inputs import LogEvent, QueuedJob
from condor_pydagman.engine.jobs import Change, Jobs
from condor_pydagman.engine.report import Shown
from condor_pydagman.graph.grow import Growth
from condor_pydagman.vocabulary import JournalRecord

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

    __slots__ = (
        "after_starts",
        "attempt_records",
        "before_done",
        "before_failed",
        "before_retry",
        "begins",
        "begins_anew",
        "blocks_pre_scripts",
        "blocks_submits",
        "deadline",
        "decided_anew",
        "details",
        "done",
        "doubt",
        "dry_run",
        "enforce",
        "enforce_deadline",
        "events",
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
        "may_leave",
        "node_left",
        "node_moved",
        "node_of",
        "obstacle_to_steer",
        "pop_hopeless",
        "records",
        "replayed",
        "replies",
        "rescue_lines",
        "resumed",
        "retried",
        "run_by_person",
        "run_ended",
        "run_excused",
        "shown",
        "started",
        "under_way",
        "validate",
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
        self.records = records
        self.attempt_records = attempt_records
        self.events = events
        self.inputs = inputs
        self.replies = replies
        self.begins: tuple[Callable[[], None], ...] = ()
        self.replayed: tuple[Callable[[], None], ...] = ()
        self.idle_changed: tuple[Callable[[int, int], None], ...] = ()
        self.blocks_submits: tuple[Callable[[], str], ...] = ()
        self.blocks_pre_scripts: tuple[Callable[[], bool], ...] = ()
        self.info: tuple[Callable[[], Iterable[tuple[str, str]]], ...] = ()
        self.details: tuple[Callable[[int], str], ...] = ()
        self.after_starts: tuple[Callable[[], None], ...] = ()
        self.holds_back: tuple[Callable[[int], bool], ...] = ()
        self.jobs_seen: tuple[Callable[[int, Jobs], None], ...] = ()
        self.job_event: tuple[Callable[[int, LogEvent, Change], None], ...] = ()
        self.is_own_hold: tuple[Callable[[LogEvent], bool], ...] = ()
        self.run_ended: tuple[Callable[[int, int, bool], None], ...] = ()
        self.before_done: tuple[Callable[[int], bool], ...] = ()
        self.before_failed: tuple[Callable[[int, str], bool], ...] = ()
        self.before_retry: tuple[Callable[[int, str], str], ...] = ()
        self.done: tuple[Callable[[int], None], ...] = ()
        self.begins_anew: tuple[Callable[[int], None], ...] = ()
        self.enforce: tuple[Callable[[], None], ...] = ()
        self.enforce_deadline: tuple[Callable[[], float | None], ...] = ()
        self.work: tuple[Callable[[], None], ...] = ()
        self.deadline: tuple[Callable[[], float | None], ...] = ()
        self.under_way: tuple[Callable[[], bool], ...] = ()
        self.resumed: tuple[Callable[[str], None], ...] = ()
        self.grown: tuple[Callable[[Growth, Sequence[int]], None], ...] = ()
        self.may_leave: tuple[Callable[[int], bool], ...] = ()
        self.node_left: tuple[Callable[[int], None], ...] = ()
        self.started: tuple[Callable[[], None], ...] = ()
        self.was_done: tuple[Callable[[int], None], ...] = ()
        self.node_moved: tuple[Callable[[int, int, int], None], ...] = ()
        self.retried: tuple[Callable[[int], None], ...] = ()
        self.is_needed: tuple[Callable[[int], bool], ...] = ()
        self.is_deciding: tuple[Callable[[int], bool], ...] = ()
        self.keeps_halted_dag: tuple[Callable[[], bool], ...] = ()
        self.dry_run: tuple[Callable[[], None], ...] = ()
        self.run_by_person: tuple[Callable[[int], None], ...] = ()
        self.pop_hopeless: tuple[Callable[[], list[int]], ...] = ()
        self.doubt: tuple[Callable[[], None], ...] = ()
        self.decided_anew: tuple[Callable[[], Collection[int]], ...] = ()
        self.rescue_lines: tuple[Callable[[int], tuple[str, ...]], ...] = ()
        self.node_of: tuple[Callable[[LogEvent], int | None], ...] = ()
        self.has_more: tuple[Callable[[], bool], ...] = ()
        self.why_incomplete: tuple[Callable[[], str], ...] = ()
        self.obstacle_to_steer: tuple[Callable[[int], str], ...] = ()
        self.has_left: tuple[Callable[[QueuedJob], bool], ...] = ()
        self.validate: tuple[Callable[[], None], ...] = ()
        self.run_excused: tuple[Callable[[int], None], ...] = ()
        self.why_halted: tuple[Callable[[], Iterable[str]], ...] = ()
        self.shown: tuple[Callable[[], Iterable[Shown]], ...] = ()
