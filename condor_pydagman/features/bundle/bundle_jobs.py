"""The jobs of bundles in the queue: what the nodes log and the schedd tell of them, and which of
them are to leave it."""

from __future__ import annotations

from collections.abc import Mapping

from condor_pydagman.engine import actions as do
from condor_pydagman.engine.inputs import EndedJob, LogEvent, QueuedJob, QueueListed
from condor_pydagman.engine.node_states import Cause, State
from condor_pydagman.engine.report import OwnJobs
from condor_pydagman.engine.run_records import Kind
from condor_pydagman.engine.state import Mode, RunState
from condor_pydagman.features.bundle.learned import Learned
from condor_pydagman.features.bundle.one_bundle import Bundle, number_of
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
_NOT_HELD = (EventKind.JOB_RELEASED, *_RUNS)


class BundleJobs:
    """The bundles of a run that have not ended, and their jobs."""

    def __init__(self, run: RunState) -> None:
        self.run = run
        self.bundles: dict[int, Bundle] = {}  # by number
        # those of them whose job may be on its way to the queue; has not begun to run, these
        # included, or has ceased to; runs; has left the queue
        self.coming: dict[int, Bundle] = {}
        self.idle: dict[int, Bundle] = {}
        self.running: dict[int, Bundle] = {}
        self.over: dict[int, Bundle] = {}
        # those whose job has ceased to run since it was read what they have come to
        self.stopped: dict[int, Bundle] = {}
        self.last = 0  # the greatest number that one has had
        self._by_cluster: dict[int, Bundle] = {}
        self._strays: set[int] = set()  # clusters that are to leave the queue
        # clusters, and when they are to be removed again, as that has failed
        self.removals: dict[int, float] = {}
        self.learned = Learned()  # from what they do
        self._over: set[int] = set()  # clusters that have ended, and may be in the queue yet

    def add(self, number: int, kind: str = "") -> Bundle:
        """There is a new bundle."""
        self.last = max(self.last, number)
        bundle = self.bundles[number] = Bundle(number, kind)
        self.count(bundle)
        return bundle

    def count(self, bundle: Bundle) -> None:
        """What is known of its job has changed."""
        self._count_no_more(bundle.number)
        self.run.job_table.feature_changed()
        if bundle.ended:
            self.over[bundle.number] = bundle
        elif bundle.runs:
            self.running[bundle.number] = bundle
        else:
            self.idle[bundle.number] = bundle
            if not (bundle.cluster or bundle.unknown):
                self.coming[bundle.number] = bundle

    def _count_no_more(self, number: int) -> None:
        for some in (self.coming, self.idle, self.running, self.over):
            some.pop(number, None)

    def pop(self, number: int) -> Bundle | None:
        """The bundle has ended; None if there is none of that number."""
        bundle = self.bundles.pop(number, None)
        self.stopped.pop(number, None)
        self._count_no_more(number)
        if bundle is not None and self._by_cluster.pop(bundle.cluster, None) is not None:
            self._over.update([bundle.cluster] if bundle.ended else ())
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
        bundle.cluster, bundle.unknown = cluster, False
        self.count(bundle)
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
        if event.proc == 0 and (bundle is None or bundle.ended):
            self._event_after_end(event)
        elif event.proc == 0 and bundle is not None:  # else it is of a helper of the schedd's
            self._job_event(bundle, event)
        return True

    def in_the_queue(self) -> OwnJobs:
        """How many jobs are in the queue, and whether one may have come and gone."""
        held = sum(one.held for one in self.idle.values())
        submitted = sum(one.cluster > 0 for one in self.idle.values())
        in_doubt = any(one.unknown or one.missing is not None for one in self.bundles.values())
        return OwnJobs(submitted - held, held, len(self.running), in_doubt)

    def _submit_event(self, number: int, cluster: int) -> None:
        run, bundle = self.run, self.bundles.get(number)
        if bundle is not None and bundle.cluster in (0, cluster):
            self.in_queue(bundle, cluster)
        elif run.mode is Mode.RUN and not run.recovering and cluster not in self._over:
            run.query.plan(run.now)  # it may be one that is not to run

    def _job_event(self, bundle: Bundle, event: LogEvent) -> None:
        kind, ran = event.kind, bundle.runs
        bundle.held = kind == EventKind.JOB_HELD or (bundle.held and kind not in _NOT_HELD)
        if kind in JOB_ENDS:
            bundle.ended_at = self.run.happened(event.time)
            if self.run.submission.is_full:
                self.run.pace.hurry(self.run.now)
        if kind in _RUNS:
            bundle.runs, bundle.begun = True, self.run.happened(event.time)
        elif kind in _WAITS:
            bundle.runs = False
        elif kind == EventKind.JOB_HELD:
            bundle.runs = False
            if event.value != _BY_USER:
                self._hold(bundle, event.text)
            else:
                self.run.say(f"Bundle {bundle.number} is on hold: {event.text}")
        elif kind == EventKind.JOB_TERMINATED:
            how = "status" if event.value >= 0 else "signal"
            bundle.ended = f"its job has ended with {how} {abs(event.value)}"
        elif kind == EventKind.JOB_ABORTED:
            bundle.removed = not bundle.given_up
            held = f" since it was on hold: {bundle.hold}" if bundle.hold else f": {event.text}"
            bundle.ended = f"its job was removed{held}"
        if kind == EventKind.EXECUTE:
            self.learned.job_began(bundle.begun)
        if ran and bundle.ended:
            self.learned.job_ended(bundle.ended_at, self.in_the_queue()[0])
        if ran and not (bundle.runs or bundle.ended):
            self.stopped[bundle.number] = bundle
        self.count(bundle)

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

    def give_up(self, bundle: Bundle) -> None:
        """Have its job removed, once."""
        if not bundle.given_up:
            bundle.given_up = True
            self._remove(bundle.cluster)

    def replayed(self) -> None:
        """A bundle that is on hold is removed now, if that was not done before."""
        for bundle in self.bundles.values():
            if bundle.given_up and not bundle.ended:
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
        given_up = bundle is not None and bundle.given_up and not bundle.ended
        return given_up or cluster in self._strays

    def listed(self, answer: QueueListed) -> bool:
        """The schedd has told what it has: bundles that it has not got are over."""
        queued = {job.cluster: job for job in answer.jobs if number_of(job.node)}
        ended = {number_of(job.node): job for job in answer.ended}
        self.last = max([self.last, *ended])  # a log that was cut does not show them
        self._over.intersection_update(queued)
        self._remove_strays(queued)
        missing = False
        clusters = {number_of(job.node): cluster for cluster, job in queued.items()}
        # A person may have changed the name of a job.
        known = ((job.cluster, self._by_cluster.get(job.cluster)) for job in answer.jobs)
        clusters.update({one.number: cluster for cluster, one in known if one is not None})
        for bundle in list(self.bundles.values()):
            if bundle.number in clusters and bundle.cluster in (0, clusters[bundle.number]):
                bundle.missing = None
                self.in_queue(bundle, clusters[bundle.number])
            elif not bundle.ended:
                missing |= self._miss(bundle, ended.get(bundle.number))
        return missing or bool(self._strays)

    def _remove_strays(self, queued: Mapping[int, QueuedJob]) -> None:
        """Remove jobs of bundles of which the log has lost all, or that have been given up; no
        bundle gets the number of one that there was."""
        self._strays.clear()
        for cluster, job in queued.items():
            number = number_of(job.node)
            self.last = max(self.last, number)
            bundle = self.bundles.get(number)
            mine = bundle is not None and bundle.cluster in (0, cluster)
            if not (mine or job.leaving or cluster in self._over):
                self.run.say(
                    f"Warning: removing bundle {number} (job {cluster}.0), which is not known"
                )
                self._strays.add(cluster)
                self._remove(cluster)

    def has_left(self, job: QueuedJob) -> bool:
        """Whether the end of a bundle's job has been read, which is in the queue yet."""
        bundle = self._by_cluster.get(job.cluster)
        return job.cluster in self._over or (bundle is not None and bool(bundle.ended))

    def _miss(self, bundle: Bundle, left: EndedJob | None) -> bool:
        """The schedd has not got its job in the queue; `left` is what the history has of it.
        Returns whether it is to be asked again soon."""
        run = self.run
        if left is not None and bundle.cluster in (0, left.cluster):
            self.in_queue(bundle, left.cluster)
            bundle.removed = left.value == RETURN_JOB_ABORTED and not bundle.given_up
            bundle.ended = "its job has left the queue, as the schedd's history says"
            self.count(bundle)
            return False
        if not bundle.cluster and not bundle.unknown:
            if not (bundle.asked or run.written.of(BUNDLE)):
                self.write_end(bundle, "its job is not in the queue")
            return False
        if bundle.missing is None:
            bundle.missing = run.now
        if run.now - bundle.missing < CONFIRM_LOST_S:
            return True
        if bundle.cluster:
            bundle.ended = "its job has left the queue, as the nodes log does not show"
            self.count(bundle)
        else:
            self.write_end(bundle, "the schedd does not have its job")
        return False

    def validate(self) -> None:
        """As of `Feature`: bundles are counted by what their jobs do."""
        for number, one in self.bundles.items():
            is_idle = not (one.runs or one.ended)
            assert (number in self.over) == bool(one.ended), number
            assert (number in self.running) == (one.runs and not one.ended), number
            assert (number in self.idle) == is_idle, number
            on_way = is_idle and not (one.cluster or one.unknown)
            assert (number in self.coming) == on_way, number
        assert len(self.bundles) == len(self.over) + len(self.running) + len(self.idle)
        assert self.coming.keys() <= self.idle.keys()
        assert self.stopped.keys() <= self.bundles.keys()
