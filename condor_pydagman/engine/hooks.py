"""The moments of a run at which features have a say: see `feature.Feature`, which has them all.

The core calls what is in these tuples, and knows no feature by name.  Of a DAG that uses none they
are empty, and cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from condor_pydagman.engine.inputs import LogEvent, QueuedJob
from condor_pydagman.engine.jobs import Change, Jobs
from condor_pydagman.engine.node_states import Anew
from condor_pydagman.engine.report import OwnJobs, Shown

if TYPE_CHECKING:
    from condor_pydagman.graph.grow import Growth

Records = Mapping[str, Callable[[int, LogEvent], None]]
Events = Mapping[int, Callable[[int, LogEvent], None]]
Inputs = Mapping[type, Callable[[Any], None]]
NONE: Mapping[Any, Any] = MappingProxyType({})
TABLES = ("records", "attempt_records", "events", "inputs", "replies")  # the others are tuples
OWN = -2  # in place of a node: the event is of a job of a feature's own


class Hooks:
    """Methods of the features of a run, by moment, in the order of `feature_table.FEATURES`."""

    # what applies a journal record
    records: Records
    attempt_records: Records
    events: Events  # what takes an event of the nodes log that the core does not take
    inputs: Inputs  # what takes an input, after the core if that takes it as well
    replies: Inputs  # what takes an answer of a helper
    own_holds: tuple[str, ...]  # how the reasons of features' own holds begin
    # the methods of `feature.Feature` that have these names
    at_starts: tuple[Callable[[bool], None], ...]
    before_end: tuple[Callable[[], bool], ...]
    before_ended: tuple[Callable[[int, str], bool], ...]
    before_retry: tuple[Callable[[int, str], str], ...]
    before_taken_back: tuple[Callable[[int | None], None], ...]
    begins: tuple[Callable[[], None], ...]
    begins_anew: tuple[Callable[[int, Anew], None], ...]
    blocks_starts: tuple[Callable[[bool], str], ...]
    deadline: tuple[Callable[[], float | None], ...]
    decided_anew: tuple[Callable[[], Collection[int]], ...]
    details: tuple[Callable[[int], str], ...]
    done: tuple[Callable[[int, bool], None], ...]
    enforce: tuple[Callable[[], None], ...]
    grown: tuple[Callable[[Growth, Sequence[int]], None], ...]
    has_left: tuple[Callable[[QueuedJob], bool], ...]
    holds_back: tuple[Callable[[int, bool], bool], ...]
    idle_changed: tuple[Callable[[int, int], None], ...]
    is_deciding: tuple[Callable[[int], bool], ...]
    job_event: tuple[Callable[[int, LogEvent, Change], None], ...]
    jobs_seen: tuple[Callable[[int, Jobs], None], ...]
    node_moved: tuple[Callable[[int, int, int], None], ...]
    node_of: tuple[Callable[[LogEvent], int | None], ...]
    own_jobs: tuple[Callable[[], OwnJobs], ...]
    pop_hopeless: tuple[Callable[[bool], list[int]], ...]
    replayed: tuple[Callable[[], None], ...]
    rescue_lines: tuple[Callable[[int], tuple[str, ...]], ...]
    run_ended: tuple[Callable[[int, int, bool], None], ...]
    runs_at: tuple[Callable[[int], tuple[str, str]], ...]
    seen_to_run: tuple[Callable[[int], bool], ...]
    shown: tuple[Callable[[], Iterable[Shown]], ...]
    started: tuple[Callable[[], None], ...]
    tells_end: tuple[Callable[[int], bool], ...]
    under_way: tuple[Callable[[bool], bool], ...]
    validate: tuple[Callable[[], None], ...]
    why_incomplete: tuple[Callable[[], str], ...]
    work: tuple[Callable[[], None], ...]

    __slots__ = tuple(__annotations__)

    def __init__(self, own_holds: tuple[str, ...] = ()) -> None:
        for name in self.__slots__:
            setattr(self, name, NONE if name in TABLES else ())
        self.own_holds = own_holds
