"""Earlier runs of a DAG, as far as `.dagman.out` tells of them: the attempts of their nodes.

States of nodes are not told: what decides them was in the nodes log, which the next run has
emptied.  Nor are hosts, reasons and resources.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from condor_pydagman.follow.run_model import (
    OF_RUN,
    REMOVAL_S,
    Attempt,
    Hold,
    NodeRun,
    Run,
    ScriptRun,
    Start,
)
from condor_pydagman.records.dagman_out import (
    ABORTED,
    EVICTED,
    EXECUTE,
    HELD,
    LOST,
    PAUSED,
    RELEASED,
    RESULT,
    SUBMIT,
    TERMINATED,
    JobLine,
    OutKind,
    OutLine,
)
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED, DagStatus

_Job = tuple[int, int, int]
CUT_OFF = "its jobs had not ended when DAGMan did"


class PastRuns:
    """Takes in the lines of `.dagman.out`, in order."""

    def __init__(self) -> None:
        self.runs: list[Run] = []  # oldest first
        self._started: Start | None = None  # a DAGMan that has not said yet what run it is about
        self._rescue = ""
        self._jobs: dict[_Job, Attempt] = {}
        self._running: set[_Job] = set()
        self._evicted: dict[_Job, float] = {}  # jobs that have not run since, and when
        self._seen: set[tuple[str, _Job, float]] = set()
        self._do: dict[OutKind, Callable[[Run, OutLine], object]] = {
            OutKind.RECOVERY: self._recovery,
            OutKind.RESCUE_TO: self._rescue_to,
            OutKind.SCRIPT_START: self._script_start,
            OutKind.SCRIPT_END: self._script_end,
            OutKind.SCRIPT_DEFERRED: self._script_deferred,
            OutKind.SUBMIT_FAILURE: self._submit_failure,
            OutKind.HALT: lambda run, line: run.halt(line.time, paused=line.text == PAUSED),
            OutKind.RESUME: lambda run, line: run.resume(line.time),
            OutKind.STATUS: self._status,
            **OF_RUN,
        }

    def take(self, lines: Iterable[OutLine | JobLine]) -> None:
        """Take in the next lines."""
        for line in lines:
            if isinstance(line, JobLine):
                self._take_job(line)
            else:
                self._take_out(line)

    def close(self) -> list[Run]:
        """There are no more; returns the runs."""
        if self.runs:
            _close(self.runs[-1])
        return self.runs

    def _take_out(self, line: OutLine) -> None:
        if line.what is OutKind.START:
            self._started, self._rescue = Start(line.time), ""
        elif line.what is OutKind.VERSION and self._started is not None:
            self._started = self._started._replace(version=line.text)
        elif line.what is OutKind.RESCUE_READ:
            self._rescue = line.text
        elif line.what is OutKind.NEW_RUN:
            self._new_run(line)
        elif line.what is OutKind.END:
            self._end(line)
        elif self.runs:
            run = self.runs[-1]
            run.last = max(run.last, line.time)
            if line.what in self._do:
                self._do[line.what](run, line)

    def _new_run(self, line: OutLine) -> None:
        self.close()
        run = Run()
        run.starts = [self._started or Start(line.time)]
        run.begun, run.last, run.rescue_read = run.starts[0].time, line.time, self._rescue
        self.runs.append(run)
        self._started = None
        self._jobs.clear()
        self._running.clear()
        self._evicted.clear()
        self._seen.clear()

    def _recovery(self, run: Run, line: OutLine) -> None:
        run.starts.append((self._started or Start(line.time))._replace(recovering=True))
        run.ended, run.exit_code, self._started = 0.0, None, None

    def _end(self, line: OutLine) -> None:
        """Of a DAGMan that had begun or taken up a run, or had refused to."""
        if self._started is None and self.runs:
            run = self.runs[-1]
            run.ended, run.exit_code = line.time, line.number
            run.last = max(run.last, line.time)
        self._started = None

    def _rescue_to(self, run: Run, line: OutLine) -> None:
        run.rescue_written = line.text

    def _status(self, run: Run, line: OutLine) -> None:
        """All that the stock DAGMan writes of a halt by file."""
        if line.number == DagStatus.HALTED:
            run.halt(line.time)
        elif line.number in (DagStatus.OK, DagStatus.NODE_FAILED):
            run.resume(line.time)

    # Scripts.

    def _script_start(self, run: Run, line: OutLine) -> None:
        if line.text == "PRE":
            _begun(run, line.node).pre = ScriptRun(line.time)
        elif line.text == "POST":
            attempt = _last(run, line.node) or _begun(run, line.node)
            attempt.post = ScriptRun(line.time)

    def _script_end(self, run: Run, line: OutLine) -> None:
        attempt = _last(run, line.node)
        script = attempt and (attempt.pre if line.text == "PRE" else attempt.post)
        if script and line.text != "HOLD":
            script.ended, script.value = line.time, line.number

    def _script_deferred(self, run: Run, line: OutLine) -> None:
        attempt = _last(run, line.node)
        if attempt is not None:
            if line.text == "PRE":
                attempt.pre = None
            elif line.text == "POST":
                attempt.post = None

    def _submit_failure(self, run: Run, line: OutLine) -> None:
        _begun(run, line.node).reason = line.text

    # Jobs.

    def _take_job(self, line: JobLine) -> None:
        if not self.runs:
            return
        run = self.runs[-1]
        run.last = max(run.last, line.time)
        key = line.what, line.job, line.time
        if line.what == SUBMIT:
            self._submitted(run, line)
        elif line.what == RESULT:
            attempt = self._jobs.get(line.job)
            if attempt is not None:
                attempt.end_with(line.value)
        elif key not in self._seen and line.job in self._jobs:
            self._happened(self._jobs[line.job], line)
        self._seen.add(key)  # a recovery tells it again

    def _submitted(self, run: Run, line: JobLine) -> None:
        if line.job in self._jobs:
            return
        cluster, proc, subproc = line.job
        attempt = _last(run, line.node)
        ids = (cluster, 0 if cluster else subproc)
        if attempt is None or not attempt.procs or (attempt.cluster, attempt.noop) != ids:
            attempt = _begun(run, line.node)
            attempt.cluster, attempt.noop, attempt.proc = *ids, proc
            attempt.submitted, attempt.reason = line.time, ""
        attempt.procs += 1
        self._jobs[line.job] = attempt

    def _happened(self, attempt: Attempt, line: JobLine) -> None:
        job = f"{line.job[0]}.{line.job[1]}"
        if line.what == EXECUTE:
            self._runs(attempt, line)
            return
        if line.job in self._running:
            self._running.discard(line.job)
            attempt.running -= 1
            attempt.note_pause(attempt.running, line.time)
            if line.what == EVICTED or line.what in LOST:
                attempt.evictions += 1
                self._evicted[line.job] = line.time
        if line.what == HELD:
            attempt.holds.append(Hold(line.time, "", 0, 0, job))
        elif line.what in (RELEASED, TERMINATED, ABORTED):
            _release(attempt, job, line.time)
        if line.what in (TERMINATED, ABORTED):
            attempt.ended_procs += 1
            attempt.ended = line.time
            if line.what == ABORTED:
                attempt.end_with(RETURN_JOB_ABORTED)
                evicted = self._evicted.pop(line.job, float("-inf"))
                attempt.evictions -= line.time <= evicted + REMOVAL_S  # it was taken to be removed

    def _runs(self, attempt: Attempt, line: JobLine) -> None:
        if line.job in self._running:
            return
        self._running.add(line.job)
        self._evicted.pop(line.job, None)
        attempt.running += 1
        attempt.note_pause(attempt.running, line.time)
        attempt.started = attempt.started or line.time


def _last(run: Run, name: str) -> Attempt | None:
    node = run.nodes.get(name)
    return node.attempts[-1] if node is not None and node.attempts else None


def _begun(run: Run, name: str) -> Attempt:
    """The attempt of a node that begins, which its PRE script may have done before."""
    node = run.nodes.setdefault(name, NodeRun(name))
    last = node.attempts[-1] if node.attempts else None
    if last is None or last.procs or last.reason or (last.pre is not None and last.pre.value):
        last = Attempt(len(node.attempts))
        node.attempts = (*node.attempts, last)
    return last


def _release(attempt: Attempt, job: str, time: float) -> None:
    attempt.holds = [
        hold._replace(released=time) if hold.job == job and not hold.released else hold
        for hold in attempt.holds
    ]


def _close(run: Run) -> None:
    """Nothing of the run goes on."""
    end = run.ended or run.last
    for node in run.nodes.values():
        for attempt in node.attempts:
            _cut_off(attempt, end)
            attempt.over = True


def _cut_off(attempt: Attempt, end: float) -> None:
    for script in (attempt.pre, attempt.post):
        if script is not None and not script.ended:
            script.ended = end
    attempt.holds = [hold if hold.released else hold._replace(released=end)
                     for hold in attempt.holds]  # fmt: skip
    if attempt.in_queue:
        attempt.ended, attempt.reason = end, CUT_OFF
        attempt.ended_procs, attempt.running = attempt.procs, 0
    if attempt.started and not attempt.stopped:
        attempt.stopped = end
