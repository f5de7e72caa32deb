"""What a run can do beyond the stock program: `Feature`, where core and features meet.

A feature is made for a DAG that wants it, and has one object a run, which owns its data.  It
defines those of the methods below that it needs; the core calls them at the moments after which
they are named (`hooks.Hooks`), in the order of `feature_table.FEATURES`.  What a method decides is
decided alike live and in a replay: from the events of the nodes log and nothing else, unless it
says that it is called live only.  All features are told; whose answer counts, where there is one,
is said of each method.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from condor_pydagman import feature_table
from condor_pydagman.engine.hooks import TABLES, Hooks
from condor_pydagman.engine.inputs import LogEvent, QueuedJob
from condor_pydagman.engine.jobs import Change, Jobs
from condor_pydagman.engine.node_states import Anew
from condor_pydagman.engine.report import OwnJobs, Shown
from condor_pydagman.engine.state import RunState
from condor_pydagman.vocabulary import EventKind

if TYPE_CHECKING:
    from condor_pydagman.graph.grow import Growth

Methods = tuple[tuple[str, str], ...]
Table = Mapping[Any, Callable[..., Any]]


class Feature:
    """Base of all features of a run."""

    # that of the folder, by which other features find this one in `RunState.features`
    name: ClassVar[str] = ""
    # journal records, and the methods that apply them when they have been read back
    records: ClassVar[Methods] = ()
    # the same, of those that count only for the attempt of the node in which they were written; of
    # any other attempt they are passed over, and no method is called
    attempt_records: ClassVar[Methods] = ()
    # kinds of events that the core does not take, and the methods that take them
    events: ClassVar[tuple[tuple[EventKind, str], ...]] = ()
    # inputs, and the methods that take them, after the core if it takes them as well; one feature
    # can take each
    inputs: ClassVar[tuple[tuple[type, str], ...]] = ()
    # how the reasons begin with which it puts jobs on hold; such holds count for no limit of holds
    own_holds: ClassVar[tuple[str, ...]] = ()
    # classes of what helpers answer (`inputs.Answered`), and the same
    replies: ClassVar[tuple[tuple[type, str], ...]] = ()

    def __init__(self, run: RunState) -> None:
        self.run = run  # what is known of the run

    # The turn of a node.

    def holds_back(self, node: int, ready: bool) -> bool:
        """Its turn has come: to start, or (`ready`) to be submitted, as no throttle of the whole
        DAG forbids.  True: it waits, READY in the latter case, and the feature starts or submits it
        when it may, perhaps with others.  The first True counts: nobody behind it is asked."""
        raise NotImplementedError

    def runs_at(self, node: int) -> tuple[str, str]:
        """Where it runs, and the digest of that site's ad; '' for both: anywhere.  The first site
        counts."""
        raise NotImplementedError

    def started(self) -> None:
        """All nodes of those whose turn has come have been started, or are held back.  In a dry
        run, in which no record is written: start what else may start."""
        raise NotImplementedError

    def is_deciding(self, node: int) -> bool:
        """Whether it is being found out if the node, which waits, is to run.  One True is
        enough."""
        raise NotImplementedError

    def blocks_starts(self, pre_scripts: bool) -> str:
        """Nodes are ready, or PRE scripts wait.  Not '': none of them may start now; the text is
        the throttle's name in counts of what had to wait.  The first text counts."""
        raise NotImplementedError

    def seen_to_run(self, node: int) -> bool:
        """An old log, or the schedd's queue, shows that the node has begun, though it waits for
        its turn.  True: the feature has held it back, and does so no more.  The first True
        counts."""
        raise NotImplementedError

    # Its jobs.

    def own_jobs(self) -> OwnJobs:
        """Jobs of the feature's own in the queue.  They are added up; one in doubt is enough to ask
        the schedd which have left it."""
        raise NotImplementedError

    def node_of(self, event: LogEvent) -> int | None:
        """Whose the event is, if the feature knows better than the core; `hooks.OWN` if it is of a
        job of the feature's own, which has taken it: nobody but observers is told of it.  The first
        answer but None counts."""
        raise NotImplementedError

    def jobs_seen(self, node: int, jobs: Jobs) -> None:
        """A cluster is the node's, whichever source shows it."""
        raise NotImplementedError

    def job_event(self, node: int, event: LogEvent, change: Change) -> None:
        """The event's proc, which is the node's, does something else from now on.  Doubles of
        events are not seen."""
        raise NotImplementedError

    def idle_changed(self, node: int, change: int) -> None:
        """So many procs more of the node wait in the queue, those on hold included."""
        raise NotImplementedError

    # The end of a run of a node.

    def run_ended(self, node: int, value: int, failed: bool) -> None:
        """A run of the node has ended with that return value, of which the DAG takes account."""
        raise NotImplementedError

    def before_ended(self, node: int, error: str) -> bool:
        """The node is about to be done, or with an `error` to have failed for good.  True: not so;
        something else has become of it, or the feature calls `lifecycle.succeed` when it may be
        done, and then lets it pass.  The first True counts."""
        raise NotImplementedError

    def before_taken_back(self, node: int | None) -> None:
        """What the node has done is about to count no more; None: that nodes have failed is."""
        raise NotImplementedError

    def before_retry(self, node: int, error: str) -> str:
        """A run of the node has failed.  Not '': it is not to be retried, whatever its RETRY says;
        the text is its error.  The first text counts."""
        raise NotImplementedError

    def done(self, node: int, ran: bool) -> None:
        """The node is done, or counts as done without having run; what depends on it has not been
        told."""
        raise NotImplementedError

    def node_moved(self, node: int, old: int, new: int) -> None:
        """It has another state; marks that come with that are not set yet.  Nodes that are done at
        the start count as well."""
        raise NotImplementedError

    def begins_anew(self, node: int, why: Anew) -> None:
        """Its next run begins, or is to begin once more: see `Anew`."""
        raise NotImplementedError

    # The run of the DAG.

    def begins(self) -> None:
        """The run begins: nodes that an earlier run has done are about to be marked as such."""
        raise NotImplementedError

    def replayed(self) -> None:
        """An old log has been read to its end; the schedd is asked next what it has."""
        raise NotImplementedError

    def pop_hopeless(self, anew: bool) -> list[int]:
        """Nodes that wait, and that will never run, since nodes have failed: those that have come
        to be so since the last call; all of them if nodes have ceased to be failed (`anew`).  Those
        of all features count."""
        raise NotImplementedError

    def before_end(self) -> bool:
        """Live: the run is about to be ended before its time, with a rescue file.  True: not yet,
        since what nodes have come to is being found out; asked again after each input, and nothing
        else is done meanwhile.  It must become False by `deadline` if nothing happens.  The first
        True counts."""
        raise NotImplementedError

    def enforce(self) -> None:
        """Live, after each input: say which jobs are to be removed, and emit what must be asked for
        even while a journal record that has not been read back keeps the DAG from starting
        anything."""
        raise NotImplementedError

    def work(self) -> None:
        """Live, after each input: emit what is to be asked for, start what may start.  Not called
        while a journal record holds the DAG up (`Kind.holds`), nor before the schedd has been asked
        what it has; called in dry runs, and when the run is over.  Nodes that have become ready
        have not been submitted."""
        raise NotImplementedError

    def at_starts(self, over: bool) -> None:
        """Live, after each input: as `work`, when the turn of all nodes has come for which that
        holds now, and before scripts and jobs start that may; once more when they have (`over`)."""
        raise NotImplementedError

    def deadline(self) -> float | None:
        """When any of these has something to do without another input, seconds since the epoch; the
        first time of all counts."""
        raise NotImplementedError

    def under_way(self, halted: bool) -> bool:
        """Whether the DAG goes on though no node runs: it is not ended meanwhile.  Of a `halted`
        one: whether it waits for something that will come all the same.  One True is enough."""
        raise NotImplementedError

    def why_incomplete(self) -> str:
        """Why a DAG all nodes of which have ended is not complete, or would go on but for its halt;
        '' if it is.  The first text counts."""
        raise NotImplementedError

    # A DAG that grows.

    def grown(self, growth: Growth, children: Sequence[int]) -> None:
        """The DAG has more nodes; of these children some may have more parents."""
        raise NotImplementedError

    # What others see.

    def shown(self) -> Iterable[Shown]:
        """What files and the job ad show of the whole DAG."""
        raise NotImplementedError

    def decided_anew(self) -> Collection[int]:
        """Nodes that are done, and on which a rescue DAG is to decide anew; those of all features
        count."""
        raise NotImplementedError

    def rescue_lines(self, node: int) -> tuple[str, ...]:
        """What a rescue file says of the node, which is done, beside that; of the whole DAG, if it
        is `NO_NODE`.  All lines count."""
        raise NotImplementedError

    def details(self, node: int) -> str:
        """For people: what the node waits for, or why it is done, if that is out of the ordinary;
        the first text counts."""
        raise NotImplementedError

    def tells_end(self, node: int) -> bool:
        """Whether the feature will tell how the node has ended, which is a part of a job that the
        schedd does not have.  One True is enough."""
        raise NotImplementedError

    def has_left(self, job: QueuedJob) -> bool:
        """The job is no node's.  Whether it is the feature's, and known to have ended.  One True is
        enough."""
        raise NotImplementedError

    def validate(self) -> None:
        """Raise AssertionError if an invariant does not hold: for tests, after each input."""
        raise NotImplementedError


_MOMENTS = tuple(name for name in Hooks.__slots__ if name not in (*TABLES, "own_holds"))


def connect(run: RunState, wanted: Iterable[Feature]) -> None:
    """From now on the run has these features; their order counts."""
    active = tuple(wanted)
    hooks = Hooks(tuple(reason for one in active for reason in one.own_holds))
    for table in TABLES:
        setattr(hooks, table, _table(active, table))
    for one in (*active, *run.observers):
        kind: Any = type(one)
        for moment in _moments(kind):
            setattr(hooks, moment, (*getattr(hooks, moment), getattr(one, moment)))
    run.use({feature.name: feature for feature in active}, hooks)


def observe(run: RunState, observer: Feature) -> None:
    """From now on the observer is told what happens; what it answers must change nothing."""
    run.show_to(observer)
    connect(run, run.features.values())


def _table(active: Sequence[Feature], name: str) -> dict[Any, Callable[..., Any]]:
    """What the features apply or take, by what that is."""
    return {taken: getattr(one, method) for one in active for taken, method in getattr(one, name)}


@cache
def _moments(kind: type[Feature]) -> list[str]:
    """The moments for which a class of features defines a method."""
    return [one for one in _MOMENTS if getattr(kind, one) is not getattr(Feature, one)]


def begin_features(run: RunState) -> None:
    """Make the features that the DAG wants; those that the run has stay as they are."""
    _have(run, {*run.features, *feature_table.wanted_by(run.dag)})


def begin_after_replay(run: RunState) -> None:
    """An old log has been read: make the features that the administrator wants then."""
    _have(run, {*run.features, *feature_table.wanted_after_replay(run.admin)})


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
        names = (entry.name for entry in feature_table.FEATURES if entry.name in wanted)
        connect(run, [run.features.get(name) or _class(name)(run) for name in names])


@cache
def _class(name: str) -> type[Feature]:
    """The class of a feature: the one in its module `run` that has its name."""
    module = feature_table.part(name, "run")
    kinds = (one for one in vars(module).values() if isinstance(one, type))
    (made,) = (one for one in kinds if issubclass(one, Feature) and one.name == name)
    return made
