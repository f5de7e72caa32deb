"""Nodes that run many to a job: `Bundles`.

A node whose turn to be submitted has come waits here until it is known which others it can go
together with (`tasks`), and how many are best (`plan`).  Then a record says who is in the bundle;
when it has been read back the bundle's job is submitted.  When that job has left the queue, what
its nodes have come to is brought home, and written into the nodes log as the events of jobs of
their own, with the bundle's cluster and a third number for each node; the record behind these says
that the bundle has ended.  Nodes without a result are ready again: that is no failure of theirs.
Without file transfer that is also done while the job runs, with what has ended so far; the record
then says which nodes the job does not run any more.

So a node in a bundle that is queued or runs is SUBMITTED without jobs of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import lifecycle, submission
from condor_pydagman.engine.feature import Feature
from condor_pydagman.engine.hooks import OWN
from condor_pydagman.engine.inputs import (
    JobSubmitted,
    LogEvent,
    QueuedJob,
    QueueListed,
    RemoveFailed,
)
from condor_pydagman.engine.jobs import Change, Jobs
from condor_pydagman.engine.node_states import Anew, Cause, State
from condor_pydagman.engine.report import OwnJobs, Shown
from condor_pydagman.engine.run_records import Kind
from condor_pydagman.engine.state import Mode, RunState
from condor_pydagman.features.bundle.bundle_jobs import AGAIN_S, BUNDLE, RESULTS, BundleJobs
from condor_pydagman.features.bundle.chains import LONG_S
from condor_pydagman.features.bundle.members import Members
from condor_pydagman.features.bundle.messages import (
    HELPER,
    Collect,
    Collected,
    Forget,
    Forgotten,
    LookedAt,
    Prepare,
    Prepared,
    SlotsSeen,
)
from condor_pydagman.features.bundle.one_bundle import MAX_NAMES, Bundle, Stage, parts_of
from condor_pydagman.features.bundle.waiting import Waiting
from condor_pydagman.graph.grow import Growth
from condor_pydagman.names import logged_name
from condor_pydagman.printable import number_of
from condor_pydagman.timers import CONFIRM_LOST_S
from condor_pydagman.vocabulary import (
    MORE_HELD,
    MORE_RUNNING,
    NO_NODE,
    DagStatus,
)

MAX_RETURNS = 2  # times that a node comes back without a result, before it runs alone
MAX_NAMED = 3  # nodes, where a bundle is told of
LIVE_S = 0.5  # seconds between two looks at what bundles that run have come to
LIVE_BUNDLES = 20  # for so many; of more less often
EMPTY_S = 10.0  # for which the job of a bundle may be in the queue that has nothing more to do
END_S = 20.0  # for which the end of the run waits for results, half of it for ends of jobs


class Bundles(Feature):
    """The bundles of a run, and the nodes that wait for one."""

    name = "bundle"
    records = (
        # value: number of a bundle; text: names of nodes that are in it
        ("BUNDLED", "on_bundled"),
        # value: number of a bundle; text: why it has ended, and who was running; or (retry > 0)
        # which nodes its job does not run any more, with 1 and the number of parts that follow in
        # `retry`
        ("UNBUNDLED", "on_unbundled"),
        # text: why, beside its exit code, the node has failed in a bundle
        ("TASK_FAILED", "on_task_failed"),
    )
    replies = (
        (LookedAt, "on_looked_at"),
        (Prepared, "on_prepared"),
        (JobSubmitted, "on_submitted"),
        (Collected, "on_collected"),
        (Forgotten, "on_forgotten"),
        (SlotsSeen, "on_slots"),
    )

    inputs = ((QueueListed, "on_listed"), (RemoveFailed, "on_remove_failed"))

    def __init__(self, run: RunState) -> None:
        super().__init__(run)
        self.jobs = BundleJobs(run)  # the jobs of bundles
        self.waiting = Waiting(run, self.jobs)  # the nodes that wait
        self.bundles = self.jobs.bundles  # those that have not ended, by number
        self.members = Members(run)
        # Nodes of which the log has the task's begin: by cluster and third number, and back.
        self._by_task: dict[tuple[int, int], int] = {}
        self._task_of: dict[int, tuple[int, int]] = {}
        self._returns: dict[int, int] = {}
        self._live_at = 0.0  # when bundles that run are looked at again
        self._ends_by: float | None = None  # when the run ends, whatever is known of results
        self._read_late: set[int] = set()  # bundles that were read since the run is to end

    # The turn of a node.

    def holds_back(self, node: int, ready: bool) -> bool:
        """It runs behind others of its bundle, which are done; or waits for others that it can go
        together with, unless it runs alone."""
        return self.waiting.takes(node) if ready else self.members.joins(node)

    def is_waiting(self, node: int) -> bool:
        """Whether the node waits for others."""
        return node in self.waiting

    def node_moved(self, node: int, old: int, new: int) -> None:
        """One that waits for others may be started no more, or has been."""
        if old == State.READY and node in self.waiting.kinds.line_of:
            self.waiting.drop(node)
        if old == State.SUBMITTED != new and node in self._task_of:
            del self._by_task[self._task_of.pop(node)]
        if self.members.bundle_of:
            self.members.moved(node, old, new)

    def at_starts(self, over: bool) -> None:
        """Make bundles of nodes that wait; those that are to run alone are submitted next.  Then
        find out which of the nodes can go together whose turn has come; not while results are being
        read."""
        if not over:
            self._make_bundles()
        elif not (self.run.written.of(RESULTS) or self.run.is_over):
            self.waiting.look()

    def _make_bundles(self) -> None:
        run = self.run
        if run.mode is not Mode.RUN or run.is_over:
            return
        if self.waiting.groups and not run.starts_nothing:
            for kind, nodes, parallel in self.waiting.next_bundles():
                self._make(kind, nodes, parallel)

    def on_looked_at(self, answer: LookedAt) -> None:
        """It is known which nodes can go together."""
        self.waiting.seen(answer)

    def blocks_starts(self, pre_scripts: bool) -> str:
        """Jobs of bundles count as others do."""
        run, limits, in_flight = self.run, self.run.limits, len(self.run.submission.in_flight)
        if pre_scripts or not self.bundles:
            return ""
        coming = self.jobs.at[Stage.COMING]
        if run.submission.is_full and coming:
            return "pace"  # one at a time, to see whether there is room
        if run.pace.blocked_until(run.now, limits, in_flight + len(coming)) > run.now:
            return "pace"
        idle = run.job_table.idle + in_flight + self.jobs.idle
        return "idle" if limits.idle and idle >= limits.idle else ""

    def _make(self, kind: str, nodes: Sequence[int], parallel: int) -> None:
        """Make a bundle, if it has more than one node."""
        if len(nodes) == 1:
            self.waiting.set_free(nodes[0])
            return
        bundle = self.jobs.add(self.jobs.last + 1, kind)
        bundle.parallel = parallel
        for node in nodes:
            self._add(bundle, node)
        self._write_names(BUNDLE, "BUNDLED", bundle, nodes, 0)

    def _write_names(
        self, kind: Kind, word: str, bundle: Bundle, nodes: Sequence[int], last: int
    ) -> None:
        """Write records that name nodes: `last` is in the last of them, more in those before."""
        names = (logged_name(self.run.dag.names[node]) for node in nodes)
        parts = list(parts_of(names, MAX_NAMES))
        records = (
            do.AppendJournalRecord(word, NO_NODE, last + left, bundle.number, text=text)
            for left, text in zip(reversed(range(len(parts))), parts)
        )
        self.run.write(kind, bundle.number, *records)

    def _add(self, bundle: Bundle, node: int) -> None:
        nodes = self.run.nodes
        self.waiting.drop(node)
        if nodes.states[node] == State.READY or (
            nodes.states[node] == State.WAITING and not nodes.may_start(node)
        ):
            self.members.add(bundle, node)

    def on_bundled(self, _: int, event: LogEvent) -> None:
        """Who is in a bundle, or some of them, has been read; its record says how many parts
        follow."""
        run, number = self.run, event.value
        if number <= self.jobs.last and number not in self.bundles:
            return  # it has ended: a double
        bundle = self.bundles.get(number)
        if bundle is None:
            bundle = self.jobs.add(number)
            bundle.parallel = self._most_parallel(event.text)
        for name in event.text.split(" "):
            node = run.dag.find(name)
            if node is None or node in self.members.bundle_of:
                continue  # it is in this one, or a record is a double
            lifecycle.start_retry_now(run, node)
            lifecycle.restore_dropped(run, node, Cause.NEEDS_SUBMIT)
            self._add(bundle, node)
        if not event.retry and run.written.drop(BUNDLE, number):
            self._prepare(bundle)

    def _most_parallel(self, names: str) -> int:
        node = self.run.dag.ids.get(names.partition(" ")[0], NO_NODE)
        line = self.waiting.kinds.line_of.get(node)
        if line is None:
            return 1
        return self.waiting.most_parallel(line, self.run.category(node))

    def _prepare(self, bundle: Bundle) -> None:
        bundle.asked = True
        nodes = tuple(submission.submit_action(self.run, node) for node in bundle.members)
        limits = tuple(map(self._time_limit, bundle.members))
        release_s = self.waiting.release_s(bundle)
        after = tuple(self.members.parents_inside(bundle)) if bundle.behind else ()
        prepare = Prepare(
            *(bundle.number, nodes, bundle.parallel, limits, release_s, after), LONG_S
        )
        self.run.emit(do.Ask(HELPER, prepare))

    def _time_limit(self, node: int) -> int:
        timeouts = self.run.features.get("timeout")
        limits = timeouts.of_node(node) if timeouts is not None else None
        return limits.running if limits is not None else 0

    def on_prepared(self, answer: Prepared) -> None:
        """Its job can be submitted."""
        bundle = self.bundles.get(answer.number)
        if bundle is None:
            return
        if answer.why:  # descriptions may have changed
            self.waiting.look_again_at(bundle.kind)
            self._refuse(bundle, answer.why, permanent=False)
            return
        bundle.text = answer.text
        without = [bundle.members[place - 1] for place in answer.without]
        if without:  # the job is submitted when the log has it
            self._write_names(RESULTS, "UNBUNDLED", bundle, without, 1)
        else:
            self._submit(bundle)

    def _submit(self, bundle: Bundle) -> None:
        """Submit its job, unless that is not to be done any more."""
        run, text = self.run, bundle.text
        bundle.text = ""
        if run.is_over or run.starts_nothing:
            self.jobs.write_end(bundle, "nothing is to be started")
        elif any(map(run.is_closed_to, bundle.members)):
            self.jobs.write_end(bundle, "not all of its nodes are to be started")
        else:
            number, names = bundle.inside + len(bundle.behind), self._some_names(bundle)
            run.say(f"Submitting bundle {bundle.number} of {number} nodes: {names}")
            run.emit(do.SubmitJob(HELPER, bundle.number, text))

    def _some_names(self, bundle: Bundle) -> str:
        """Of those that have not left it."""
        nodes = [node for node in bundle.members if node in self.members.bundle_of]
        names = [self.run.dag.names[node] for node in nodes[:MAX_NAMED]]
        return ", ".join(names) + (", ..." if len(nodes) > MAX_NAMED else "")

    def on_submitted(self, answer: JobSubmitted) -> None:
        """The schedd has its job, has not, or that is not known."""
        run, bundle = self.run, self.bundles.get(answer.number)
        if answer.cluster:
            submission.has_room(run, waits=bool(self.waiting.groups))
            run.pace.submitted(run.now, run.limits)
            run.say(f"\tassigned HTCondor ID ({answer.cluster}.0.0)")
        if bundle is None:
            return
        bundle.asked = False
        if answer.cluster:
            self.waiting.kinds.accepted(bundle.kind)
        if bundle.cluster:
            return  # the log was quicker
        if answer.cluster:
            self.jobs.in_queue(bundle, answer.cluster)
        elif answer.unknown:
            self.jobs.move(bundle, Stage.UNKNOWN)
            run.query.plan(run.now + run.pace.failed(run.now))
        elif answer.full:
            submission.has_no_room(run, answer.reason)
            self.jobs.write_end(bundle, answer.reason)
        else:
            run.pace.failed(run.now)
            self._refuse(bundle, answer.reason, permanent=answer.permanent)

    def _refuse(self, bundle: Bundle, why: str, *, permanent: bool) -> None:
        self.run.say(f"ERROR: bundle {bundle.number} can't be submitted: {why}")
        if self.waiting.kinds.refused(bundle.kind, permanent=permanent):
            self.waiting.look_again_at(bundle.kind)
        self.jobs.write_end(bundle, why)

    # Its job.

    def node_of(self, event: LogEvent) -> int | None:
        """Of the job of a bundle; or whose event it is, by its third number, from the event on that
        has the name."""
        if self.jobs.takes_event(event):
            return OWN
        return self._by_task.get((event.cluster, event.subproc)) if event.subproc > 0 else None

    def own_jobs(self) -> OwnJobs:
        """Jobs of bundles, of which some may have come and gone."""
        return self.jobs.in_the_queue()

    def shown(self) -> Iterable[Shown]:
        """How many more nodes than jobs run and are on hold, as bundles have several nodes."""
        for stage, name in ((Stage.RUNNING, MORE_RUNNING), (Stage.HELD, MORE_HELD)):
            more = (one.inside - 1 for one in self.jobs.at[stage].values() if one.inside)
            yield Shown("", sum(more), attribute=name)

    def replayed(self) -> None:
        """A bundle that is on hold is removed now, if that was not done before."""
        self.jobs.replayed()

    def on_remove_failed(self, failed: RemoveFailed) -> None:
        """It is tried again while it makes sense."""
        self.jobs.remove_failed(failed.cluster)

    def on_listed(self, answer: QueueListed) -> None:
        """The schedd has told what it has: bundles that it has not got are over."""
        run = self.run
        if self.jobs.listed(answer) and not run.nodes.count_all(State.UNKNOWN):
            run.query.plan(run.now + CONFIRM_LOST_S)

    def tells_end(self, node: int) -> bool:
        """It is in a bundle the results of which are being read, or were when a log was cut."""
        bundle = self.members.bundle_of.get(node)
        return bundle is not None and node not in bundle.behind

    def has_left(self, job: QueuedJob) -> bool:
        """Whether the end of a bundle's job has been read, which is in the queue yet."""
        return self.jobs.has_left(job)

    # Its end.

    def enforce(self) -> None:
        """Bring home what bundles have come to whose job has left the queue."""
        self.jobs.remove_again()
        for number, since in self.members.empty.items():
            if since + EMPTY_S <= self.run.now and not self.bundles[number].ended:
                self.jobs.give_up(self.bundles[number])
        for number in [one for one, at in self.jobs.due.items() if at <= self.run.now]:
            if not self.bundles[number].asked:
                self._collect(self.bundles[number])
        if self._live_at <= self.run.now:
            self._look_at_running()

    def under_way(self, halted: bool) -> bool:
        """Whether the job of a bundle whose nodes have all ended, as was read while it ran, is to
        leave the queue in a moment; or the schedd has failed to remove one."""
        return not halted and (
            bool(self.jobs.removals)
            or any(since + EMPTY_S > self.run.now for since in self.members.empty.values())
        )

    def _look_at_running(self) -> None:
        """Learn what nodes have come to whose bundle has not ended."""
        live = list(self.jobs.running.values())
        if not live:
            return
        self._live_at = self.run.now + LIVE_S * max(1.0, len(live) / LIVE_BUNDLES)
        for bundle in live:
            is_due = bundle.number in self.jobs.due  # it could not be read
            if not (bundle.asked or is_due) and bundle.begun + LIVE_S <= self.run.now:
                self._collect(bundle)

    def before_end(self) -> bool:
        """What has ended in bundles is to be in the rescue file, as far as it is at home: their
        jobs leave the queue first, so that nothing ends behind it."""
        run, removes = self.run, self._end_removes_jobs()
        if self._ends_by is None:
            self._ends_by = run.now + END_S
        self.jobs.remove_again()
        late = not removes or run.now >= self._ends_by - END_S / 2
        for bundle in self.bundles.values():
            if removes and bundle.cluster and not bundle.ended:
                self.jobs.give_up(bundle)
            is_due = self.jobs.due.get(bundle.number, 0.0) <= run.now
            if is_due and not bundle.asked and self._may_tell(bundle, late):
                self._read_late.add(bundle.number)
                self._collect(bundle)
        waits = any(
            bundle.cluster and (bundle.asked or not late or self._may_tell(bundle, late))
            for bundle in self.bundles.values()
        )
        return waits and run.now < self._ends_by

    def _may_tell(self, bundle: Bundle, late: bool) -> bool:
        """Whether it is to be read what a bundle has come to, since its job has ended, or it is too
        late to wait for that."""
        if bundle.ended:
            return bundle.cluster > 0
        return late and bundle.cluster > 0 and bundle.number not in self._read_late

    def _end_removes_jobs(self) -> bool:
        run = self.run
        ending = run.end.wanted
        return run.config.remove_node_jobs or (ending and ending.status) is not DagStatus.RM

    def deadline(self) -> float | None:
        """When that is tried again which could not be done, or a node has waited long enough for
        others."""
        together_at, ends_by = self.waiting.deadline(), self._ends_by
        due = [] if together_at is None else [together_at]
        empty = (since + EMPTY_S for since in self.members.empty.values())
        later = [self._live_at, *self.jobs.due.values(), *empty]
        if ends_by is not None:
            later += [ends_by - END_S / 2, ends_by]
        due += [at for at in later if at > self.run.now]
        return min((*due, *self.jobs.removals.values()), default=None)

    def _collect(self, bundle: Bundle) -> None:
        bundle.asked = True
        self.jobs.due.pop(bundle.number, None)
        behind = [node for node in bundle.members if node in bundle.behind]
        nodes = (*self.members.inside(bundle), *behind)
        members = nodes, tuple(self.run.nodes.retries.get(node, 0) for node in nodes)
        collect = Collect(
            *(bundle.number, bundle.cluster, *members, bundle.removed, bundle.ended), len(behind)
        )
        self.run.emit(do.Ask(HELPER, collect))

    def on_collected(self, answer: Collected) -> None:
        """What its nodes have come to is at home, and is written into the log."""
        run, bundle = self.run, self.bundles.get(answer.number)
        if bundle is None:
            return
        if answer.why:
            run.say(f"Bundle {bundle.number}: {answer.why}; trying again", 0)
            bundle.asked = False
            self.jobs.due[bundle.number] = run.now + AGAIN_S
            return
        self._learn(bundle, answer)
        if answer.events:
            run.write(RESULTS, answer.number, do.AppendEvents(answer.events))
        else:
            bundle.asked = False

    def _learn(self, bundle: Bundle, answer: Collected) -> None:
        """How long nodes have taken."""
        bundle.not_home = max(bundle.not_home, answer.not_home)
        bundle.worked_s += sum(answer.took)
        ran = bundle.ended_at - bundle.begun if bundle.begun and bundle.ended_at else 0.0
        self.jobs.learned.took(bundle.kind, answer.took, ran, bundle.worked_s / bundle.parallel)

    def jobs_seen(self, node: int, jobs: Jobs) -> None:
        """Its task has events of its own, the first of which has its name."""
        if jobs.is_task:
            self._by_task[jobs.cluster, jobs.subproc] = node
            self._task_of[node] = jobs.cluster, jobs.subproc

    def on_task_failed(self, node: int, event: LogEvent) -> None:
        """Its task, the end of which is the next event of it, has failed for that reason."""
        run, jobs = self.run, self.run.job_table.by_node.get(node)
        if jobs is None or not jobs.is_task or event.retry != run.nodes.retries.get(node, 0):
            return
        job = jobs.job(0)
        run.say(f"Node {run.dag.names[node]} ({job}): {event.text}")
        jobs.error = f"Job proc ({job}) failed: {event.text}"

    def on_unbundled(self, _: int, event: LogEvent) -> None:
        """The bundle has ended: its nodes without a result are ready again.  Or (`retry`) its job
        runs, and the nodes that are named are not run by it."""
        if event.retry > 0:
            self._release(event)
            return
        run, bundle = self.run, self.jobs.pop(event.value)
        run.written.drop(RESULTS, event.value)
        if bundle is None:
            return
        why, _sep, names = event.text.partition("\n")
        suspects = set(map(run.dag.find, names.split(" ")))
        inside = self.members.ended(bundle)
        left = [node for node in reversed(inside) if self._is_without_result(node)]
        for node in left:
            if bundle.cluster:
                self._returns[node] = self._returns.get(node, 0) + 1
            self._take_back(node, node in suspects)
        if left:
            run.say(f"Bundle {bundle.number}: no result of {number_of(len(left), 'node')} ({why})")
        if run.mode is Mode.RUN and not run.recovering:
            run.emit(do.Ask(HELPER, Forget(bundle.number)))

    def _release(self, event: LogEvent) -> None:
        run, bundle = self.run, self.bundles.get(event.value)
        if bundle is None:
            return
        found = [run.dag.find(name) for name in event.text.split(" ")]
        nodes = [node for node in found if node is not None]
        self.members.leave_behind(nodes, bundle)
        inside = [node for node in nodes if self.members.is_inside(node, bundle)]
        for node in filter(self._is_without_result, inside):
            self.members.leave(node)
            self._make_ready(node)
        if inside:
            others = number_of(len(inside), "other node")
            run.say(f"Bundle {event.value}: a node takes long, and {others} need not wait for it")
        if event.retry == 1 and run.written.drop(RESULTS, event.value):
            if bundle.text:
                self._submit(bundle)
            else:
                bundle.asked = False

    def on_forgotten(self, answer: Forgotten) -> None:
        """Its files are gone."""

    def _is_without_result(self, node: int) -> bool:
        run = self.run
        state = run.nodes.states[node]
        return state == State.SUBMITTING or (
            state == State.SUBMITTED and node not in run.job_table.by_node
        )

    def _take_back(self, node: int, suspect: bool) -> None:
        if suspect or self._returns.get(node, 0) > MAX_RETURNS:
            self.waiting.kinds.alone.add(node)
        self._make_ready(node, first=True)

    def _make_ready(self, node: int, *, first: bool = False) -> None:
        """A log that has lost its end may not show that the node has run since."""
        run = self.run
        lifecycle.leave_queue(run, node)
        lifecycle.make_ready(run, node, first=first)
        if node in run.query.found or node in run.query.history:
            lifecycle.adopt(run, node, run.query.found.get(node, ()))

    # How long nodes take.

    def job_event(self, node: int, event: LogEvent, change: Change) -> None:
        """Of nodes that run alone; events have whole seconds, and those of bundles tell more."""
        kind = self.waiting.kinds.of.get(node)
        if kind is None or node in self.members.bundle_of:
            return
        now = self.run.happened(event.time)
        if change is Change.RUNS:
            self.jobs.learned.began(node, kind, now)
        elif change is Change.ENDED:
            self.jobs.learned.ended(node, now)

    def on_slots(self, answer: SlotsSeen) -> None:
        """How many jobs the pool can run at once, as far as is known."""
        self.jobs.learned.slots = answer.slots

    # What becomes of nodes.

    def begins_anew(self, node: int, why: Anew) -> None:
        """It may go together with others again; its next run may have another description."""
        if why is Anew.RETRY:
            self.waiting.kinds.of.pop(node, None)
        elif why is Anew.RUN:
            self.waiting.kinds.alone.discard(node)
            self._returns.pop(node, None)

    def set_by_person(self, node: int) -> None:
        """It may go together with other nodes than before."""
        self.waiting.look_again(node)
        self.waiting.kinds.forget(node)

    def grown(self, growth: Growth, children: Sequence[int]) -> None:
        """New nodes may be bundled; others have new parents."""
        self.waiting.kinds.grow(growth.nodes)
        for node in children:
            self.waiting.kinds.forget(node)

    def obstacle_to_steer(self, node: int) -> str:
        """It can't be told apart from the others of its bundle while that is in the queue, nor may
        what those behind it go by change."""
        members = self.members
        bundle = members.bundle_of.get(node)
        if bundle is not None:
            return f"it is in bundle {bundle.number} with {_others(bundle)}: ask when that ends"
        for child in self.run.dag.children(node) if members.bundle_of else ():
            bundle = members.bundle_of.get(child)
            if bundle is not None and child in bundle.behind:
                what = f"node {self.run.dag.names[child]}, which waits for it, is in bundle"
                return f"{what} {bundle.number}: ask when that ends"
        return ""

    def details(self, node: int) -> str:
        """Which bundle it is in, or that it waits for others."""
        bundle = self.members.bundle_of.get(node)
        if bundle is not None and node in bundle.behind:
            return f"runs behind the nodes before it in bundle {bundle.number}"
        if bundle is not None:
            does = "runs" if bundle.stage is Stage.RUNNING else "is queued"
            job = f" (job {bundle.cluster}.0)" if bundle.cluster else ""
            ended = f"; {bundle.not_home} have ended" if bundle.not_home else ""
            return f"{does} in bundle {bundle.number}{job} with {_others(bundle)}{ended}"
        return self.waiting.details(node) if node in self.waiting else ""

    def validate(self) -> None:
        """Nodes of bundles are in the queue; those that wait for others are ready."""
        self.members.validate(self.bundles.values())
        self.waiting.validate()
        self.jobs.validate()
        assert self._task_of.keys() == set(self._by_task.values())
        assert all(self.run.nodes.states[node] == State.SUBMITTED for node in self._task_of)


def _others(bundle: Bundle) -> str:
    return number_of(bundle.inside + len(bundle.behind) - 1, "other node")
