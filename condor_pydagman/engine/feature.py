"""What a run can do beyond the stock program: `Feature`, where core and features meet.

A feature is made for a DAG that wants it, and has one object a run, which owns its data.  It
defines those of the methods below that it needs; the core calls them at the moments after which
they are named (`hooks.Hooks`), in the order of `features.FEATURES`.  What a method decides is
decided alike live and in a replay: from the events of the nodes log and nothing else, unless it
says that it is called live only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from condor_pydagman import features
from condor_pydagman.engine.hooks import Hooks
from condor_pydagman.engine.inputs import LogEvent, QueuedJob, QueueListed
from condor_pydagman.engine.jobs import Change, Jobs
from condor_pydagman.engine.report import GroupReport, Shown
from condor_pydagman.engine.state import RunState
from condor_pydagman.vocabulary import EventKind, JournalRecord

if TYPE_CHECKING:
    from condor_pydagman.graph.grow import Growth

Methods = tuple[tuple[JournalRecord, str], ...]
Table = Mapping[Any, Callable[..., Any]]
_TABLES = ("records", "attempt_records", "events", "inputs", "replies")


class Feature:
    """Base of all features of a run.

    Attributes:
        name: that of the folder, by which other features find this one in `RunState.features`.
        run: what is known of the run.
        records: journal records, and the methods that apply them when they have been read back.
        attempt_records: the same, of those that count only for the attempt of the node in which
            they were written; of any other attempt they are passed over, and no method is called.
        events: kinds of events that the core does not take, and the methods that take them.
        inputs: inputs that the core does not take, and the methods that take them.
        replies: classes of what helpers answer (`inputs.Answered`), and the same.
    """

    name: ClassVar[str] = ""
    records: ClassVar[Methods] = ()
    attempt_records: ClassVar[Methods] = ()
    events: ClassVar[tuple[tuple[EventKind, str], ...]] = ()
    inputs: ClassVar[tuple[tuple[type, str], ...]] = ()
    replies: ClassVar[tuple[tuple[type, str], ...]] = ()

    def __init__(self, run: RunState) -> None:
        self.run = run

    # The turn of a node.

    def holds_back(self, node: int) -> bool:
        """Its turn has come.  True: the feature has it wait, and starts it when it may; what comes
        later in the order is not asked."""
        raise NotImplementedError

    def runs_at(self, node: int) -> tuple[str, str]:
        """Where it runs, and the digest of that site's ad; '' for both: anywhere.  The first site
        counts."""
        raise NotImplementedError

    def started(self) -> None:
        """All nodes of those whose turn has come have been started, or are held back."""
        raise NotImplementedError

    def is_deciding(self, node: int) -> bool:
        """Whether it is being found out if the node, which waits, is to run."""
        raise NotImplementedError

    def blocks_submits(self) -> str:
        """Nodes are ready.  Not '': none of them may be submitted now; the text is the throttle's
        name in counts of what had to wait.  The first text counts."""
        raise NotImplementedError

    def submits(self, node: int) -> bool:
        """Its turn to be submitted has come, and no throttle of the whole DAG forbids it.  True:
        the feature submits it, perhaps later and with others; until then it is READY, and in no
        queue.  What comes later in the order is not asked."""
        raise NotImplementedError

    def blocks_pre_scripts(self) -> bool:
        """Whether no PRE script may start now."""
        raise NotImplementedError

    def seen_to_run(self, node: int) -> bool:
        """An old log, or the schedd's queue, shows that the node has begun, though it waits for
        its turn.  True: the feature has held it back, and does so no more."""
        raise NotImplementedError

    def waits_again(self, node: int) -> None:
        """The node, whose turn had come and of which nothing has begun, waits for parents again."""
        raise NotImplementedError

    # Its jobs.

    def takes_event(self, event: LogEvent) -> bool:
        """Whether the event is of a job of the feature's own, which is no node's: then nobody else
        is told of it, but by `own_event`."""
        raise NotImplementedError

    def own_jobs(self) -> tuple[int, int, int]:
        """How many jobs of the feature's own are in the queue: idle, on hold, running."""
        raise NotImplementedError

    def own_event(self, event: LogEvent) -> None:
        """A feature has taken the event, which is of a job of its own."""
        raise NotImplementedError

    def remove_failed(self, cluster: int) -> None:
        """The schedd could not be asked to remove jobs, of a node perhaps."""
        raise NotImplementedError

    def wants_history(self) -> bool:
        """The schedd is about to be asked which jobs of the DAG it has.  Whether it is to tell
        which have left the queue, too."""
        raise NotImplementedError

    def listed(self, answer: QueueListed) -> bool:
        """The schedd has told which jobs of the DAG it has; those of nodes have been compared.
        True: it is to be asked again soon."""
        raise NotImplementedError

    def places_shared(self) -> int:
        """How many nodes are in the queue in the places of others, under -MaxJobs."""
        raise NotImplementedError

    def node_of(self, event: LogEvent) -> int | None:
        """Whose the event is, if it is of no jobs in the queue; None if that is not known."""
        raise NotImplementedError

    def jobs_seen(self, node: int, jobs: Jobs) -> None:
        """A cluster is the node's, whichever source shows it."""
        raise NotImplementedError

    def adopted(self, node: int) -> None:
        """Jobs have been found to be the node's which the log does not show."""
        raise NotImplementedError

    def job_event(self, node: int, event: LogEvent, change: Change) -> None:
        """The event's proc, which is the node's, does something else from now on.  Doubles of
        events are not seen."""
        raise NotImplementedError

    def idle_changed(self, node: int, change: int) -> None:
        """So many procs more of the node wait in the queue, those on hold included."""
        raise NotImplementedError

    def is_own_hold(self, event: LogEvent) -> bool:
        """Whether the feature has put a job on hold, as this event of it says: then that tells
        nothing of the job.  The first True counts."""
        raise NotImplementedError

    # The end of a run of a node.

    def run_ended(self, node: int, value: int, failed: bool) -> None:
        """A run of the node has ended with that return value, of which the DAG takes account."""
        raise NotImplementedError

    def run_excused(self, node: int) -> None:
        """Its present run is about to be ended by DAGMan, which tells nothing of the node."""
        raise NotImplementedError

    def before_done(self, node: int) -> bool:
        """The node is about to be done.  True: not yet; the feature calls `lifecycle.succeed` when
        it may be, and then lets it pass."""
        raise NotImplementedError

    def before_failed(self, node: int, error: str) -> bool:
        """The node is about to have failed for good.  True: something else has become of it."""
        raise NotImplementedError

    def before_retry(self, node: int, error: str) -> str:
        """A run of the node has failed.  Not '': it is not to be retried, whatever its RETRY says;
        the text is its error.  The first text counts."""
        raise NotImplementedError

    def done(self, node: int) -> None:
        """The node is done; what depends on it has not been told."""
        raise NotImplementedError

    def node_moved(self, node: int, old: int, new: int) -> None:
        """It has another state; marks that come with that are not set yet.  Nodes that are done at
        the start count as well."""
        raise NotImplementedError

    def retried(self, node: int) -> None:
        """Its next run is about to begin, or to wait for its time."""
        raise NotImplementedError

    def run_by_person(self, node: int) -> None:
        """It had ended, and a person has it run again, or a node before it; it waits, and
        `begins_anew` has been called."""
        raise NotImplementedError

    def set_by_person(self, node: int) -> None:
        """A person has set something for the node, as its `RunState.settings` say."""
        raise NotImplementedError

    def begins_anew(self, node: int) -> None:
        """What the node has come to counts no more: it is to run as if it never had."""
        raise NotImplementedError

    def done_unrun(self, node: int) -> None:
        """The node counts as done without having run; what depends on it has not been told."""
        raise NotImplementedError

    def before_taken_back(self, node: int) -> None:
        """What the node, which has ended, has done is about to count no more."""
        raise NotImplementedError

    def before_revived(self) -> None:
        """Nodes that failed ones have kept from running are about to wait again."""
        raise NotImplementedError

    def starts_over(self, node: int) -> bool:
        """Whether the feature is about to have the node begin anew, as it has decided before."""
        raise NotImplementedError

    # The run of the DAG.

    def was_done(self, node: int) -> None:
        """An earlier run has done the node, which is about to be marked as done."""
        raise NotImplementedError

    def pop_hopeless(self) -> list[int]:
        """Nodes that wait, and that will never run, since nodes have failed: those that have come
        to be so since the last call."""
        raise NotImplementedError

    def doubt(self) -> None:
        """Nodes have ceased to be failed: `pop_hopeless` is to find out anew."""
        raise NotImplementedError

    def dry_run(self) -> None:
        """In a dry run, a node has been done: start what may start, without a record."""
        raise NotImplementedError

    def begins(self) -> None:
        """The run begins: nodes that are done already are marked as such, nothing is started."""
        raise NotImplementedError

    def replayed(self) -> None:
        """An old log has been read to its end; the schedd is asked next what it has."""
        raise NotImplementedError

    def event_taken(self) -> None:
        """An event of the nodes log has been taken; a replay does what follows from it at once."""
        raise NotImplementedError

    def before_removals(self) -> None:
        """Live, after each input: say which jobs are to be removed."""
        raise NotImplementedError

    def before_end(self) -> bool:
        """Live: the run is about to be ended before its time, with a rescue file.  True: not yet,
        since what nodes have come to is being found out; asked again after each input, and nothing
        else is done meanwhile.  It must become False by `enforce_deadline` if nothing happens."""
        raise NotImplementedError

    def enforce(self) -> None:
        """Live, after each input: emit what must be asked for even while a journal record that has
        not been read back keeps the DAG from starting anything."""
        raise NotImplementedError

    def enforce_deadline(self) -> float | None:
        """When `enforce` has something to do without another input, seconds since the epoch."""
        raise NotImplementedError

    def work(self) -> None:
        """Live, after each input: emit what is to be asked for, start what may start.  Not called
        while a journal record holds the DAG up (`Kind.holds`), nor before the schedd has been asked
        what it has; called in dry runs, and when the run is over.  Nodes that have become ready
        have not been submitted."""
        raise NotImplementedError

    def deadline(self) -> float | None:
        """When `work` or `before_starts` has something to do without another input, seconds since
        the epoch."""
        raise NotImplementedError

    def before_starts(self) -> None:
        """Live, after each input: as `work`, when the turn of all nodes has come for which that
        holds now; scripts and jobs have not been started."""
        raise NotImplementedError

    def after_starts(self) -> None:
        """Live, after each input: as `work`, when what may start has been started."""
        raise NotImplementedError

    def under_way(self) -> bool:
        """Whether the DAG goes on though no node runs: it is not ended meanwhile."""
        raise NotImplementedError

    def keeps_halted_dag(self) -> bool:
        """Whether a halted DAG in which nothing runs waits for something, and does not end."""
        raise NotImplementedError

    def has_more(self) -> bool:
        """Whether a halted DAG all nodes of which have ended would go on."""
        raise NotImplementedError

    def why_incomplete(self) -> str:
        """Why a DAG all nodes of which have ended is not complete; '' if it is."""
        raise NotImplementedError

    def resumed(self, reason: str) -> None:
        """A person, not the halt file, resumes the DAG."""
        raise NotImplementedError

    # A DAG that grows, and lets go of nodes.

    def grown(self, growth: Growth, children: Sequence[int]) -> None:
        """The DAG has more nodes; of these children some may have more parents."""
        raise NotImplementedError

    def is_needed(self, node: int) -> bool:
        """Whether what the node, which is done, has come to may count for others yet.  It must
        follow from the nodes log: by this a node leaves the DAG."""
        raise NotImplementedError

    def may_leave(self, node: int) -> bool:
        """Whether the feature awaits nothing about the node, which is done and about to leave the
        DAG.  Live only."""
        raise NotImplementedError

    def node_left(self, node: int) -> None:
        """The node has left the DAG: its number may be another's."""
        raise NotImplementedError

    # What others see.

    def why_halted(self) -> Iterable[str]:
        """Why the feature keeps the DAG halted, a line each."""
        raise NotImplementedError

    def shown(self) -> Iterable[Shown]:
        """What files and the job ad show of the whole DAG."""
        raise NotImplementedError

    def decided_anew(self) -> Collection[int]:
        """Nodes that are done, and on which a rescue DAG is to decide anew."""
        raise NotImplementedError

    def rescue_lines(self, node: int) -> tuple[str, ...]:
        """What a rescue file says of the node, which is done, beside that."""
        raise NotImplementedError

    def info(self) -> Iterable[tuple[str, str]]:
        """What clients that ask about the whole DAG are told, by name; '' is left out."""
        raise NotImplementedError

    def details(self, node: int) -> str:
        """For people: what the node waits for, or why it is done, if that is out of the ordinary;
        the first text counts."""
        raise NotImplementedError

    def obstacle_to_steer(self, node: int) -> str:
        """Why a person can ask nothing of the node, nor may it get another parent; '' if that is
        possible."""
        raise NotImplementedError

    def tells_end(self, node: int) -> bool:
        """Whether the feature will tell how the node has ended, which is a part of a job that the
        schedd does not have."""
        raise NotImplementedError

    def has_left(self, job: QueuedJob) -> bool:
        """The job is no node's that there is.  Whether it is known to have ended: it is of the
        feature, or of a node that was done and has left the DAG."""
        raise NotImplementedError

    def group_reports(self, anew: Collection[int]) -> Iterable[GroupReport]:
        """Groups of nodes; those that a rescue DAG decides `anew` do not count as done."""
        raise NotImplementedError

    def validate(self) -> None:
        """Raise AssertionError if an invariant does not hold: for tests, after each input."""
        raise NotImplementedError


_MOMENTS = tuple(name for name in Hooks.__slots__ if name not in _TABLES)


def connect(run: RunState, wanted: Iterable[Feature]) -> None:
    """From now on the run has these features; their order counts."""
    active = tuple(wanted)
    hooks = Hooks(*(_table(active, name) for name in _TABLES))
    for moment in _MOMENTS:
        setattr(hooks, moment, _methods((*active, *run.observers), moment))
    run.use({feature.name: feature for feature in active}, hooks)


def observe(run: RunState, observer: Feature) -> None:
    """From now on the observer is told what happens; what it answers must change nothing."""
    run.show_to(observer)
    connect(run, run.features.values())


def _table(active: Sequence[Feature], name: str) -> dict[Any, Callable[..., Any]]:
    """What the features apply or take, by what that is."""
    return {taken: getattr(one, method) for one in active for taken, method in getattr(one, name)}


def _methods(active: Sequence[Feature], moment: str) -> tuple[Callable[..., Any], ...]:
    """The methods for a moment, of the features that define it."""
    default = getattr(Feature, moment)
    defining = (one for one in active if getattr(type(one), moment) is not default)
    return tuple(getattr(one, moment) for one in defining)


def begin_features(run: RunState) -> None:
    """Make the features that the DAG wants; those that the run has stay as they are."""
    _have(run, {*run.features, *features.wanted_by(run.dag)})


def begin_after_replay(run: RunState) -> None:
    """An old log has been read: make the features that the administrator wants then."""
    _have(run, {*run.features, *features.wanted_after_replay(run.admin)})


def want(run: RunState, name: str) -> None:
    """Make a feature that the DAG has not asked for: a person has."""
    _have(run, {*run.features, name})


def table_with(run: RunState, name: str, taken: object, feature: str) -> Table:
    """A table of `hooks.Hooks`, in which a `feature` that nobody has asked for before has a row for
    what is to be taken, if it is one."""
    if taken not in getattr(run.hooks, name) and feature:
        want(run, feature)
    found: Table = getattr(run.hooks, name)
    return found


def _have(run: RunState, wanted: set[str]) -> None:
    if len(wanted) > len(run.features):
        names = (entry.name for entry in features.FEATURES if entry.name in wanted)
        connect(run, [run.features.get(name) or _new(run, name) for name in names])


def _new(run: RunState, name: str) -> Feature:
    """A feature, by the class in its module `run` that has its name."""
    module = features.part(name, "run")
    (made,) = (
        one
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, Feature) and one.name == name
    )
    return made(run)
