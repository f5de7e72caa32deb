"""The brakes of a run: what has failed is counted, and what they do (docs/decisions.md).

What has failed is counted by the events of the nodes log, so a replay comes to the same.  That a
brake acts is written into the log, and so is that a person takes it back; both are in force when
they have been read from there.  Until then nothing new is started and the DAG does not end.  A
record of before a resume, and a double, changes nothing.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Iterable, Sequence
from typing import Union

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import operator, rules, run_end
from condor_pydagman.engine.feature import Feature
from condor_pydagman.engine.inputs import LogEvent, Resume
from condor_pydagman.engine.jobs import ENDED, HELD, Change, Jobs
from condor_pydagman.engine.report import Shown
from condor_pydagman.engine.run_records import Kind
from condor_pydagman.engine.state import RunState
from condor_pydagman.features.brake.commands import (
    ABORT,
    EXIT_CODE,
    HOLD,
    HOLD_REASON,
    SITE,
    Brake,
    brakes_of,
    limit,
    members,
    text,
)
from condor_pydagman.graph.grow import Growth
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import first_of
from condor_pydagman.vocabulary import (
    ORDINARY_KINDS,
    RETURN_JOB_ABORTED,
    RETURN_NO_RESULT,
    RETURN_SUBMIT_FAILED,
)


class BrakeRecord(NamedTuple):
    """A brake acts: in which round (how often brakes were taken back before), what it does, why."""

    round: str
    effect: str
    name: str
    reason: str

    @property
    def text(self) -> str:
        """As the nodes log has it."""
        return f"{self.round} {self.effect} {self.why}"

    @property
    def why(self) -> str:
        """As job ad and node status file have it."""
        return f"{self.name}: {self.reason}"


def read_record(text: str) -> BrakeRecord:
    """The text of a record."""
    in_round, _, rest = text.partition(" ")
    effect, _, what = rest.partition(" ")
    name, _, reason = what.partition(": ")
    return BrakeRecord(in_round, effect, name, reason)


Key = Union[int, str]
NOTHING: Key = ""  # of failures that need not be alike
_OF_NO_JOB = {
    RETURN_SUBMIT_FAILED: "could not be submitted",
    RETURN_JOB_ABORTED: "had their jobs removed",
    RETURN_NO_RESULT: "published nothing that could be read",
}


class Exceeded(NamedTuple):
    """More nodes than the brake allows: these, in the order of their failures, and their key."""

    key: Key
    nodes: Sequence[int]


class BrakeCount:
    """What one brake has counted since the start, or since a person resumed the DAG."""

    def __init__(self, brake: Brake, members: int) -> None:
        """`members`: how many nodes it counts."""
        self._brake = brake
        self._limit = limit(brake, members)
        self._nodes: dict[Key, Counter[int]] = {}  # failures by key and node
        self._runs: deque[tuple[int, Key] | None] = deque()  # the last ones; None: succeeded

    def grow(self, members: int) -> None:
        """The DAG has grown: it counts so many nodes."""
        self._limit = limit(self._brake, members)

    def failed(self, node: int, key: Key) -> Exceeded | None:
        """A run of the node failed, or a job of it was held; the nodes if that is one too many."""
        self._nodes.setdefault(key, Counter())[node] += 1
        return self._ended((node, key)) if self._brake.last else self._look_at((key,))

    def succeeded(self) -> Exceeded | None:
        """A run ended well: what failed before may be too much of the last ones now."""
        return self._ended(None) if self._brake.last else None

    def _ended(self, run: tuple[int, Key] | None) -> Exceeded | None:
        self._runs.append(run)
        if len(self._runs) > self._brake.last:
            self._forget(self._runs.popleft())
        if self._brake.percent and len(self._runs) < self._brake.last:
            return None
        return self._look_at(tuple(self._nodes))

    def _forget(self, run: tuple[int, Key] | None) -> None:
        if run is None:
            return
        node, key = run
        nodes = self._nodes[key]
        nodes[node] -= 1
        if not nodes[node]:
            del nodes[node]
        if not nodes:
            del self._nodes[key]

    def _look_at(self, keys: Iterable[Key]) -> Exceeded | None:
        for key in keys:
            if len(self._nodes[key]) > self._limit:
                return Exceeded(key, tuple(self._nodes[key]))
        return None


def why(brake: Brake, exceeded: Exceeded, names: Sequence[str]) -> str:
    """What has been too much, for people; `names` are those of all nodes."""
    count = len(exceeded.nodes)
    where = f" in the last {brake.last} runs" if brake.last else ""
    shown = first_of([names[node] for node in exceeded.nodes])
    what = _what(brake, exceeded.key)
    return f"{count} node{'s' * (count != 1)} {what}{where}, more than {text(brake)}: {shown}"


def _what(brake: Brake, key: Key) -> str:
    if brake.alike == HOLD_REASON:
        return f"had jobs held for the same reason (HoldReasonCode {key})"
    if brake.alike == EXIT_CODE:
        assert isinstance(key, int)
        if key in _OF_NO_JOB:
            return _OF_NO_JOB[key]
        return f"failed with exit code {key}" if key >= 0 else f"failed with signal {-key}"
    return f"failed at site {key}" if brake.alike else "failed"


BRAKED = Kind("brake", holds=True)  # by its number, or RELEASE
RELEASE = "release"  # in place of a brake's number: the record that takes brakes back
HOLD_AGAIN_S = 60.0  # before the schedd is asked again for jobs that are not on hold yet
MAX_REASON = 300  # characters of a hold reason
HOLD_WORDS = "Held by the brake of its DAG"  # the beginning of that
_RELEASE_REASON = "Released: the brake of its DAG was released"
# HoldReasonCodes of holds that say nothing about the job: by a user, submitted so, spooling.
_NOT_COUNTED = (1, 15, 16)

Proc = tuple[int, int]


class Brakes(Feature):
    """The brakes of a run, by number."""

    name = "brake"
    records = (
        # value: number of the BRAKE; text: resumes so far, effect, name, why
        ("BRAKED", "on_braked"),
        # value: how many resumes before; text: why a person resumes
        ("BRAKES_OFF", "on_brakes_off"),
    )
    inputs = ((Resume, "on_resume"),)
    own_holds = (HOLD_WORDS,)

    def __init__(self, run: RunState) -> None:
        super().__init__(run)
        self.brakes = brakes_of(run.dag)  # as the DAG has them
        self.round = 0  # how often people have taken brakes back
        # brakes of which more has failed than they allow: the last node, and why
        self.due: dict[int, tuple[int, str]] = {}
        self.braked: dict[int, str] = {}  # brakes that are in force, and why
        # procs that are to be put on hold or released, and when the schedd is to be asked for it,
        # again perhaps
        self.to_hold: dict[Proc, float] = {}
        self.to_release: dict[Proc, float] = {}
        self.held: set[Proc] = set()  # procs that a brake has put on hold
        self._resumed: str | None = None  # why a person resumes the DAG, until that is written
        self._counts = self._new_counts()

    def _new_counts(self) -> list[BrakeCount]:
        return [BrakeCount(brake, members(self.run.dag, brake)) for brake in self.brakes]

    @property
    def holds(self) -> bool:
        """Whether jobs in the queue are to be on hold."""
        return any(self.brakes[number].effect == HOLD for number in self.braked)

    # Counting.

    def run_ended(self, node: int, value: int, failed: bool) -> None:
        """Count it, unless DAGMan itself has ended it."""
        run = self.run
        jobs = run.job_table.by_node.get(node)
        if run.dag.kinds[node] not in ORDINARY_KINDS or (jobs is not None and jobs.surplus):
            return
        site, category = run.runs_at(node)[0], run.category(node)
        for number, brake in enumerate(self.brakes):
            if brake.alike == HOLD_REASON or (brake.alike == SITE and not site):
                continue
            if self._counts_now(number, brake, category):
                key = _key(brake, value, site)
                count = self._counts[number]
                exceeded = count.failed(node, key) if failed else count.succeeded()
                self._note(number, node, exceeded)

    def _job_held(self, node: int, code: int, reason: str) -> None:
        """A job of a node went on hold, for a reason with that HoldReasonCode."""
        if code in _NOT_COUNTED or reason.startswith(HOLD_WORDS):
            return
        if self.run.dag.kinds[node] not in ORDINARY_KINDS:
            return
        category = self.run.category(node)
        for number, brake in enumerate(self.brakes):
            if brake.alike == HOLD_REASON and self._counts_now(number, brake, category):
                self._note(number, node, self._counts[number].failed(node, code))

    def _counts_now(self, number: int, brake: Brake, category: str) -> bool:
        """Whether a brake counts; what it does is enough, until a person takes it back."""
        if number in self.due or number in self.braked:
            return False
        return not brake.category or brake.category == category

    def _note(self, number: int, node: int, exceeded: Exceeded | None) -> None:
        if exceeded is not None:
            self.due[number] = node, why(self.brakes[number], exceeded, self.run.dag.names)

    def grown(self, _growth: Growth, _children: Sequence[int]) -> None:
        """A share is of more nodes."""
        for brake, count in zip(self.brakes, self._counts):
            count.grow(members(self.run.dag, brake))

    # Records.

    def enforce(self) -> None:
        """Write into the log which brakes act; have jobs held or released."""
        if not self.run.is_over:
            for number, (node, reason) in self.due.items():
                if number not in self.run.written.of(BRAKED):
                    brake = self.brakes[number]
                    record = BrakeRecord(str(self.round), brake.effect, brake.name, reason)
                    self._write(number, "BRAKED", node, number, record.text)
        if self._resumed is not None:
            if not self.run.is_over and (self.braked or self.run.written.of(BRAKED)):
                self._write(RELEASE, "BRAKES_OFF", 0, self.round, self._resumed)
            self._resumed = None
        if self.to_hold or self.to_release:
            self._hold_and_release()

    def _write(self, key: Hashable, record: str, node: int, value: int, text: str) -> None:
        retry = self.run.nodes.retries.get(node, 0)
        action = do.AppendJournalRecord(record, node, retry, value, text=text.strip())
        self.run.write(BRAKED, key, action)

    def on_resume(self, resume: Resume) -> None:
        """A person takes the brakes back, which is in force when the log has it."""
        if not resume.file:
            self._resumed = resume.reason

    def on_braked(self, _node: int, event: LogEvent) -> None:
        """A brake acts."""
        run, number = self.run, event.value
        if not 0 <= number < len(self.brakes):
            run.say(
                f"Warning: ignoring the record of a brake that the DAG has not got: {event.text}"
            )
            return
        record = read_record(event.text)
        if record.round != str(self.round):
            return
        run.written.drop(BRAKED, number)
        self.due.pop(number, None)
        if number not in self.braked:
            self.braked[number] = record.why
            self._act(self.brakes[number].effect, record.why)

    def _act(self, effect: str, text: str) -> None:
        run = self.run
        run.say(f"Brake {text}: {effect}", 0)
        if effect == ABORT:
            if not run.is_over:
                run.say(f"Aborting DAG because of brake {text}", 0)
                run_end.request_end(run, rules.BRAKED)
            return
        operator.halt_by_rule(run, f"brake {text}")
        if effect == HOLD:
            self._hold_all()

    def on_brakes_off(self, _node: int, event: LogEvent) -> None:
        """A person has taken back the brakes that act: all count anew."""
        run = self.run
        if event.value != self.round:
            return
        self.round += 1
        self.due.clear()
        self.braked.clear()
        self._counts = self._new_counts()
        self.to_hold.clear()
        self.to_release.update(dict.fromkeys(sorted(self.held), 0.0))
        self.held.clear()
        run.written.clear(BRAKED)
        run.say("The brakes are released, and start counting again")
        operator.end_halt_by_rule(run)

    # Jobs.

    def job_event(self, node: int, event: LogEvent, change: Change) -> None:
        """Jobs that come, go on hold, are released or end."""
        proc = event.cluster, event.proc
        if change in (Change.SUBMITTED, Change.ADOPTED):
            # it was on its way to the queue when the brake began to act
            if self.holds and event.cluster > 0 and self.run.is_ordinary(node):
                jobs = self.run.job_table.by_node.get(node)
                if jobs is not None:
                    self._hold(jobs, event.proc)
        elif change is Change.HELD:
            self._went_on_hold(node, event)
        elif change is Change.RELEASED:
            self._left_hold(proc)
        elif change is Change.ENDED:
            self._forget(proc)

    def _went_on_hold(self, node: int, event: LogEvent) -> None:
        proc = event.cluster, event.proc
        self.to_hold.pop(proc, None)
        if event.text.startswith(HOLD_WORDS):
            if self.holds:
                self.held.add(proc)
            else:  # the brake was taken back meanwhile
                self.to_release[proc] = 0.0
        if not self.run.is_over:
            self._job_held(node, event.value, event.text)

    def _left_hold(self, proc: Proc) -> None:
        self.held.discard(proc)
        self.to_release.pop(proc, None)

    def _forget(self, proc: Proc) -> None:
        self._left_hold(proc)
        self.to_hold.pop(proc, None)

    def _hold_all(self) -> None:
        run = self.run
        for node, jobs in run.job_table.by_node.items():
            if run.is_ordinary(node):
                for proc in jobs.live():
                    self._hold(jobs, proc)

    def _hold(self, jobs: Jobs, proc: int) -> None:
        if not jobs.procs.get(proc, 0) & (HELD | ENDED):
            self.to_hold.setdefault((jobs.cluster, proc), 0.0)

    def _hold_and_release(self) -> None:
        """Ask the schedd to hold jobs, or to release them, and again until the log shows it."""
        if self.run.is_over:
            return
        names = "; ".join(self.braked.values())
        self._ask(self.to_hold, f"{HOLD_WORDS}: {names}"[:MAX_REASON], release=False)
        self._ask(self.to_release, _RELEASE_REASON, release=True)

    def _ask(self, procs: dict[Proc, float], reason: str, *, release: bool) -> None:
        run = self.run
        targets: dict[Proc, None] = {}
        for proc in [proc for proc, when in procs.items() if when <= run.now]:
            node = run.job_table.node_of(*proc)
            jobs = None if node is None else run.job_table.by_node.get(node)
            if jobs is None or jobs.removing or not jobs.unfinished:
                self._forget(proc)
            else:
                procs[proc] = run.now + HOLD_AGAIN_S
                targets[jobs.target] = None
        for target in targets:
            run.emit(do.HoldJobs(*target, reason, release))

    def deadline(self) -> float | None:
        """When the schedd is to be asked again."""
        if self.run.is_over:
            return None
        return min((*self.to_hold.values(), *self.to_release.values()), default=None)

    # What others see.

    def replayed(self) -> None:
        """An old log shows that brakes have halted the DAG."""
        if self.run.halt.by_rule:
            self.run.say("Restoring halted state.")
            for text in self.braked.values():
                self.run.say(f"Halt reason: brake {text}")

    def shown(self) -> Iterable[Shown]:
        """The brakes that act, and why."""
        return [Shown("Brake", "; ".join(self.braked.values()), attribute="PYDAGMAN_Brake")]


def _key(brake: Brake, value: int, site: str) -> Key:
    """What a run has in common with others that ended alike."""
    if brake.alike == EXIT_CODE:
        return value
    return site if brake.alike == SITE else NOTHING
