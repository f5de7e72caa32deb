"""The jobs of bundles in the queue: what the nodes log and the schedd tell of them, and which of
them are to leave it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from condor_pydagman.engine import actions as do
from condor_pydagman.engine.inputs import EndedJob, LogEvent, QueuedJob, QueueListed
from condor_pydagman.engine.node_states import Cause, State
from condor_pydagman.engine.report import OwnJobs
from condor_pydagman.engine.run_records import Kind
from condor_pydagman.engine.state import Mode, RunState
from condor_pydagman.features.bundle.learned import Learned
from condor_pydagman.features.bundle.one_bundle import Bundle, Stage, number_of
from condor_pydagman.timers import CONFIRM_LOST_S
from condor_pydagman.vocabulary import (
    JOB_ENDS,
    NO_NODE,
    RETURN_JOB_ABORTED,
    EventKind,
)

BUNDLE = Kind("who is in a bundle")  # by its number
RESULTS = Kind("what the nodes of a bundle have come to")  # by its number
AGAIN_S = 10.0  # seconds before what could not be done is tried again

_BY_USER = 1  # HoldReasonCode of a job that a person has put on hold
_WAITS = (
    EventKind.JOB_EVICTED,
    EventKind.SHADOW_EXCEPTION,
    EventKind.JOB_RECONNECT_FAILED,
    EventKind.JOB_SUSPENDED,
)
_RUNS = (EventKind.EXECUTE, EventKind.JOB_UNSUSPENDED)


class BundleJobs:
    """The bundles of a run that have not ended, and their jobs."""

    def __init__(self, run: RunState) -> None:
        self.run = run
        self.bundles: dict[int, Bundle] = {}  # by number
        self.at: dict[Stage, dict[int, Bundle]] = {stage: {} for stage in Stage}  # the same
        # by number, when it is to be read what a bundle has come to whose job has ceased to run
        self.due: dict[int, float] = {}
        self.last = 0  # the greatest number that one has had
        self._by_cluster: dict[int, Bundle] = {}
        self._strays: set[int] = set()  # clusters that are to leave the queue
        # clusters, and when they are to be removed again, as that has failed
        self.removals: dict[int, float] = {}
        self._over: set[int] = set()  # clusters that have ended, and may be in the queue yet
        self.learned = Learned()  # from what they do

    def add(self, number: int, kind: str = "") -> Bundle:
        """There is a new bundle."""
        self.last = max(self.last, number)
        bundle = self.bundles[number] = Bundle(number, kind)
        self.move(bundle, Stage.COMING)
        return bundle

    def move(self, bundle: Bundle, stage: Stage, ended: str = "") -> None:
        """Its job has come so far; `ended` says how it has left the queue."""
        if stage is Stage.OVER:
            bundle.ended = ended
            self.due[bundle.number] = 0.0
        elif bundle.stage is Stage.RUNNING and stage is not Stage.RUNNING and not bundle.given_up:
            self.due[bundle.number] = 0.0
        self.at[bundle.stage].pop(bundle.number, None)
        bundle.stage = stage
        self.at[stage][bundle.number] = bundle
        self.run.job_table.feature_changed()

    @property
    def running(self) -> Mapping[int, Bundle]:
        """Those whose job runs."""
        return self.at[Stage.RUNNING]

    @property
    def idle(self) -> int:
        """How many jobs have not begun to run, or have ceased to."""
        return len(self.bundles) - len(self.running) - len(self.at[Stage.OVER])

    def pop(self, number: int) -> Bundle | None:
        """The bundle has ended; None if there is none of that number."""
        bundle = self.bundles.pop(number, None)
        self.due.pop(number, None)
        if bundle is not None:
            del self.at[bundle.stage][number]
            if self._by_cluster.pop(bundle.cluster, None) is not None and bundle.ended:
                self._over.add(bundle.cluster)
        return bundle

    def write_end(self, bundle: Bundle, why: str) -> None:
        """The bundle has no results: its nodes are to be ready again."""
        record = do.AppendJournalRecord("UNBUNDLED", NO_NODE, 0, bundle.number, text=why)
        bundle.asked = True
        self.run.write(RESULTS, bundle.number, record)

    def in_queue(self, bundle: Bundle, cluster: int) -> None:
        """The schedd has the job of a bundle, whichever source shows it."""
        run = self.run
        if bundle.cluster == cluster:
            return
        self._by_cluster[cluster] = bundle
        bundle.cluster = cluster
        self.move(bundle, Stage.IDLE)
        for node in bundle.members:
            if run.nodes.states[node] == State.SUBMITTING:
                run.nodes.move(node, Cause.JOBS_SEEN, run.now)
        run.query.plan_look(run.now, run.config.check_queue_interval, run.job_table.completed)

    def takes_event(self, event: LogEvent) -> bool:
        """Whether it is of the job of a bundle; events of its nodes have a third number."""
        if event.kind in (EventKind.SUBMIT, EventKind.CLUSTER_SUBMIT):
            number = number_of(event.node)
            if number:
                self._submit_event(number, event.cluster)
            return number > 0
        if event.subproc > 0 or event.record is not None:
            return False
        bundle = self._by_cluster.get(event.cluster)
        if bundle is None and event.cluster not in self._over:
            return False
        if event.proc == 0 and (bundle is None or bundle.stage is Stage.OVER):
            self._event_after_end(event)
        elif event.proc == 0 and bundle is not None:  # else it is of a helper of the schedd's
            self._job_event(bundle, event)
        return True

    def in_the_queue(self) -> OwnJobs:
        """How many jobs are in the queue, and whether one may have come and gone."""
        idle, held, running = (len(self.at[one]) for one in (Stage.IDLE, Stage.HELD, Stage.RUNNING))
        in_doubt = any(one.missing is not None for one in self.bundles.values())
        return OwnJobs(idle, held, running, in_doubt or bool(self.at[Stage.UNKNOWN]))

    def _submit_event(self, number: int, cluster: int) -> None:
        run, bundle = self.run, self.bundles.get(number)
        if bundle is not None and bundle.cluster in (0, cluster):
            self.in_queue(bundle, cluster)
        elif run.mode is Mode.RUN and not run.recovering and cluster not in self._over:
            run.query.plan(run.now)  # it may be one that is not to run

    def _job_event(self, bundle: Bundle, event: LogEvent) -> None:
        kind, stage, now = event.kind, bundle.stage, self.run.happened(event.time)
        if kind in JOB_ENDS:
            self._end_event(bundle, event, now)
        elif kind in _RUNS:
            bundle.begun = now
            self.move(bundle, Stage.RUNNING)
            if kind == EventKind.EXECUTE:
                self.learned.job_began(now)
        elif kind == EventKind.JOB_HELD and event.value != _BY_USER:
            self._hold(bundle, event.text)
        elif kind == EventKind.JOB_HELD:
            self.run.say(f"Bundle {bundle.number} is on hold: {event.text}")
            self.move(bundle, Stage.HELD)
        elif (kind, stage) == (EventKind.JOB_RELEASED, Stage.HELD) or (
            kind in _WAITS and stage is Stage.RUNNING
        ):
            self.move(bundle, Stage.IDLE)

    def _end_event(self, bundle: Bundle, event: LogEvent, now: float) -> None:
        ran, bundle.ended_at = bundle.stage is Stage.RUNNING, now
        if self.run.submission.is_full:
            self.run.pace.hurry(self.run.now)
        if event.kind == EventKind.JOB_TERMINATED:
            how = "status" if event.value >= 0 else "signal"
            self.move(bundle, Stage.OVER, f"its job has ended with {how} {abs(event.value)}")
        else:
            bundle.removed = not bundle.given_up
            held = f" since it was on hold: {bundle.hold}" if bundle.hold else f": {event.text}"
            self.move(bundle, Stage.OVER, f"its job was removed{held}")
        if ran:
            self.learned.job_ended(now, self.in_the_queue()[0])

    def _event_after_end(self, event: LogEvent) -> None:
        """A schedd that could not write the end of a job, as its disk is full, has it on hold, or
        runs it again: it is not to, since its nodes have ended or go elsewhere."""
        if event.kind == EventKind.JOB_HELD or event.kind in _RUNS:
            self._over.discard(event.cluster)
            self._strays.add(event.cluster)
            if self.run.mode is Mode.RUN and not self.run.recovering:
                self._remove(event.cluster)

    def _hold(self, bundle: Bundle, why: str) -> None:
        """The job is on hold: its nodes run again, and those that may be why it is, alone."""
        if self.run.mode is Mode.RUN and not self.run.recovering:
            self.run.say(f"Bundle {bundle.number} is on hold: {why}; its nodes are taken back")
            self.give_up(bundle)
        bundle.given_up, bundle.hold = True, why
        self.move(bundle, Stage.HELD)

    def give_up(self, bundle: Bundle) -> None:
        """Have its job removed, once."""
        if not bundle.given_up:
            bundle.given_up = True
            self._remove(bundle.cluster)

    def replayed(self) -> None:
        """A bundle that is on hold is removed now, if that was not done before."""
        for bundle in self.bundles.values():
            if bundle.given_up and bundle.stage is not Stage.OVER:
                self._remove(bundle.cluster)
        for cluster in self._strays:
            self._remove(cluster)

    def _remove(self, cluster: int) -> None:
        """Have a job removed that is not to run."""
        self.removals.pop(cluster, None)
        if self._is_unwanted(cluster):
            self.run.emit(do.RemoveJobs("DAG bundle: it is not to run", cluster))

    def remove_again(self) -> None:
        """Ask once more for removals that have failed."""
        for cluster in [one for one, at in self.removals.items() if at <= self.run.now]:
            self._remove(cluster)

    def remove_failed(self, cluster: int) -> None:
        """It is tried again while it makes sense."""
        if self._is_unwanted(cluster):
            self.removals[cluster] = self.run.now + AGAIN_S

    def _is_unwanted(self, cluster: int) -> bool:
        bundle = self._by_cluster.get(cluster)
        if bundle is not None and bundle.given_up and bundle.stage is not Stage.OVER:
            return True
        return cluster in self._strays

    def listed(self, answer: QueueListed) -> bool:
        """The schedd has told what it has: bundles that it has not got are over.  Returns whether
        it is to be asked again soon."""
        queued = self._queued(answer.jobs)
        ended = {number_of(job.node): job for job in answer.ended}
        self.last = max([self.last, *ended])  # a log that was cut does not show them
        missing = False
        for bundle in list(self.bundles.values()):
            job = queued.get(bundle.number)
            if job is not None:
                bundle.missing = None
                self.in_queue(bundle, job.cluster)
                if job.hold and bundle.stage in (Stage.IDLE, Stage.RUNNING):
                    self._hold(bundle, job.hold)  # the log has lost that event
            elif bundle.stage is not Stage.OVER:
                missing |= self._miss(bundle, ended.get(bundle.number))
        return missing or bool(self._strays)

    def _queued(self, jobs: Sequence[QueuedJob]) -> dict[int, QueuedJob]:
        """The jobs of bundles, by the numbers of these.  Others of which the log has lost all, or
        that have been given up, are removed; no bundle gets the number of one that there was."""
        found: dict[int, QueuedJob] = {}
        self._over.intersection_update(job.cluster for job in jobs)
        self._strays.clear()
        for job in jobs:
            number, cluster = number_of(job.node), job.cluster
            self.last = max(self.last, number)
            # A person may have changed the name of a job.
            bundle = self._by_cluster.get(cluster) or self.bundles.get(number)
            if bundle is not None and bundle.cluster in (0, cluster):
                found[bundle.number] = job
            elif number and not (job.leaving or cluster in self._over):
                known = f"bundle {number} (job {cluster}.0), which is not known"
                self.run.say(f"Warning: removing {known}")
                self._strays.add(cluster)
                self._remove(cluster)
        return found

    def has_left(self, job: QueuedJob) -> bool:
        """Whether the end of a bundle's job has been read, which is in the queue yet."""
        bundle = self._by_cluster.get(job.cluster)
        return job.cluster in self._over or (bundle is not None and bundle.stage is Stage.OVER)

    def _miss(self, bundle: Bundle, left: EndedJob | None) -> bool:
        """The schedd has not got its job in the queue; `left` is what the history has of it.
        Returns whether it is to be asked again soon."""
        run = self.run
        if left is not None and bundle.cluster in (0, left.cluster):
            self.in_queue(bundle, left.cluster)
            bundle.removed = left.value == RETURN_JOB_ABORTED and not bundle.given_up
            self.move(
                bundle, Stage.OVER, "its job has left the queue, as the schedd's history says"
            )
            return False
        if bundle.stage is Stage.COMING:
            if not (bundle.asked or run.written.of(BUNDLE)):
                self.write_end(bundle, "its job is not in the queue")
            return False
        if bundle.missing is None:
            bundle.missing = run.now
        if run.now - bundle.missing < CONFIRM_LOST_S:
            return True
        if bundle.cluster:
            self.move(
                bundle, Stage.OVER, "its job has left the queue, as the nodes log does not show"
            )
        else:
            self.write_end(bundle, "the schedd does not have its job")
        return False

    def validate(self) -> None:
        """As of `Feature`: bundles are counted by what their jobs do."""
        for number, one in self.bundles.items():
            assert self.at[one.stage].get(number) is one, number
            is_coming = one.stage in (Stage.COMING, Stage.UNKNOWN)
            assert is_coming != (one.cluster > 0) or one.stage is Stage.OVER, number
            assert bool(one.ended) == (one.stage is Stage.OVER), number
        assert len(self.bundles) == sum(map(len, self.at.values()))
        assert self.due.keys() <= self.bundles.keys()
