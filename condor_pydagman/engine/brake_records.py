"""What is known of the brakes of a run: data and its bookkeeping, as in `run_records`."""

from __future__ import annotations

from condor_pydagman.dagfile.brake_lines import EXIT_CODE, HOLD, HOLD_REASON, SITE
from condor_pydagman.engine.brake_counts import NOTHING, BrakeCount, Exceeded, Key, why
from condor_pydagman.engine.run_records import Kind
from condor_pydagman.graph.brakes import members
from condor_pydagman.graph.model import Brake, Dag
from condor_pydagman.vocabulary import ORDINARY_KINDS

BRAKED = Kind("brake", holds=True)  # by its number, or RELEASE
# The beginning of the hold reason of jobs that a brake has put on hold.
HOLD_WORDS = "Held by the brake of its DAG"
# HoldReasonCodes of holds that say nothing about the job: by a user, submitted so, spooling.
_NOT_COUNTED = (1, 15, 16)
RELEASE = -1  # in place of a brake's number: the record that takes brakes back

Proc = tuple[int, int]


class Brakes:
    """The brakes of a run, by number.  An attribute is written by its methods alone.

    Attributes:
        brakes: as the DAG has them.
        round: how often people have taken brakes back.
        due: brakes of which more has failed than they allow: the last node, and why.
        braked: brakes that are in force, and why.
        resumed: why a person resumes the DAG, until that is written; None: nobody does.
        to_hold, to_release: procs that are to be put on hold or released, and when the schedd is to
            be asked for it, again perhaps.
        held: procs that a brake has put on hold.
    """

    __slots__ = (
        *("brakes", "round", "due", "braked", "resumed"),
        *("to_hold", "to_release", "held"),
        *("_dag", "_counts", "_excused"),
    )

    def __init__(self, dag: Dag) -> None:
        self._dag = dag
        self.brakes = dag.brakes
        self.round = 0
        self.due: dict[int, tuple[int, str]] = {}
        self.braked: dict[int, str] = {}
        self.resumed: str | None = None
        self.to_hold: dict[Proc, float] = {}
        self.to_release: dict[Proc, float] = {}
        self.held: set[Proc] = set()
        self._excused: set[int] = set()
        self._counts: list[BrakeCount] = []
        self._count_anew()

    def __bool__(self) -> bool:
        """Whether there are any brakes."""
        return bool(self.brakes)

    @property
    def holds(self) -> bool:
        """Whether jobs in the queue are to be on hold."""
        return any(self.brakes[number].effect == HOLD for number in self.braked)

    # What happens.

    def run_ended(self, node: int, value: int, site: str, category: str, *, failed: bool) -> None:
        """A run of a node has ended, with that return value, at that site ('' if it has none)."""
        if self._dag.kinds[node] not in ORDINARY_KINDS or node in self._excused:
            self._excused.discard(node)
            return
        for number, brake in enumerate(self.brakes):
            if brake.alike == HOLD_REASON or (brake.alike == SITE and not site):
                continue
            if self._counts_now(number, brake, category):
                key = _key(brake, value, site)
                count = self._counts[number]
                exceeded = count.failed(node, key) if failed else count.succeeded()
                self._note(number, node, exceeded)

    def job_held(self, node: int, code: int, reason: str, category: str) -> None:
        """A job of a node went on hold, for a reason with that HoldReasonCode."""
        if code in _NOT_COUNTED or reason.startswith(HOLD_WORDS):
            return
        if self._dag.kinds[node] not in ORDINARY_KINDS:
            return
        for number, brake in enumerate(self.brakes):
            if brake.alike == HOLD_REASON and self._counts_now(number, brake, category):
                self._note(number, node, self._counts[number].failed(node, code))

    def excuse(self, node: int) -> None:
        """This run of the node ends because DAGMan wants it to: it is not counted."""
        self._excused.add(node)

    def _counts_now(self, number: int, brake: Brake, category: str) -> bool:
        """Whether a brake counts; what it does is enough, until a person takes it back."""
        if number in self.due or number in self.braked:
            return False
        return not brake.category or brake.category == category

    def _note(self, number: int, node: int, exceeded: Exceeded | None) -> None:
        if exceeded is not None:
            self.due[number] = node, why(self.brakes[number], exceeded, self._dag.names)

    def has_counted(self, node: int) -> bool:
        """Whether a failure of the node counts."""
        return node in self._excused or any(count.has(node) for count in self._counts)

    # Records.

    def resume(self, reason: str) -> None:
        """A person resumes the DAG."""
        self.resumed = reason

    def resume_written(self) -> None:
        """That is on its way to the log, or there is nothing to be taken back."""
        self.resumed = None

    def brake(self, number: int, reason: str) -> bool:
        """The record of a brake has been read; returns whether it was not in force before."""
        self.due.pop(number, None)
        new = number not in self.braked
        self.braked.setdefault(number, reason)
        return new

    def take_back(self) -> None:
        """The record of a resume has been read: all brakes count anew."""
        self.round += 1
        self.due.clear()
        self.braked.clear()
        self._count_anew()
        self.to_hold.clear()
        self.to_release.update(dict.fromkeys(sorted(self.held), 0.0))
        self.held.clear()

    def _count_anew(self) -> None:
        self._counts = [BrakeCount(brake, members(self._dag, brake)) for brake in self.brakes]

    def grow(self) -> None:
        """The DAG has grown: a share is of more nodes."""
        for brake, count in zip(self.brakes, self._counts):
            count.grow(members(self._dag, brake))

    # Jobs.

    def hold(self, proc: Proc) -> None:
        """A job in the queue is to be put on hold."""
        self.to_hold.setdefault(proc, 0.0)

    def went_on_hold(self, proc: Proc, reason: str) -> None:
        """A job is on hold, if not because of a brake then for another reason."""
        self.to_hold.pop(proc, None)
        if not reason.startswith(HOLD_WORDS):
            return
        if self.holds:
            self.held.add(proc)
        else:  # the brake was taken back meanwhile
            self.to_release[proc] = 0.0

    def left_hold(self, proc: Proc) -> None:
        """A job was released, or has ended."""
        self.held.discard(proc)
        self.to_release.pop(proc, None)

    def ended(self, proc: Proc) -> None:
        """A job has ended."""
        self.left_hold(proc)
        self.to_hold.pop(proc, None)

    def asked(self, procs: dict[Proc, float], proc: Proc, again_at: float) -> None:
        """The schedd is asked for a proc of `to_hold` or `to_release`."""
        procs[proc] = again_at


def _key(brake: Brake, value: int, site: str) -> Key:
    """What a run has in common with others that ended alike."""
    if brake.alike == EXIT_CODE:
        return value
    return site if brake.alike == SITE else NOTHING
