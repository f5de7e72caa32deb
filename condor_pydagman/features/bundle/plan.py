"""How many ready nodes go into the next bundle.

Packing can win two things.  The schedd starts only so many jobs a second, so that slots stay empty
if jobs are short; and each job costs its slot some time beyond its tasks.  It can lose two things.
Tasks stand behind each other while slots are free; and a node has ended, for its children, when its
whole bundle has.  So bundles are as long as it takes to win the most of the first, and no longer:

1. Nodes go alone, as ordinary jobs, until something is known of their times: until twice as many
   tasks have ended as jobs run, and ten.  If the number of slots is known and there are many more
   nodes, they go in bundles of at most ten instead, which are less than an eighth of a slot's part.
   If a bundle gives back tasks that would have to wait for a long one, each slot gets one with its
   whole part, if that is more than a few.
2. Nodes go alone if more than one of fifty jobs runs far longer than expected: what ends first are
   the short ones, and two long tasks must not stand in one bundle.
3. Nodes go alone if the longest of the last hundred tasks, or one that runs, takes more than a
   quarter of the time in which the schedd could start all that are ready: starting is not what the
   DAG waits for.  If that holds with those that are idle, too, all of them go at once; of chains
   that last, no more than there are slots, since they are cut towards the end.
4. Starting R tasks of t seconds in bundles of n takes R/n starts, at r a second, and the last
   bundle n*t.  The sum is least for n = sqrt(R / (r*t)).  No bundle is larger.
   If each of the slots has work for eight bundles, and what tasks come to is known while a bundle
   runs, a bundle takes at least forty times what its job costs its slot.
5. If S slots are known, no bundle takes longer than 2*S/r, twice the time in which the schedd
   starts one for each slot, and a hundred times what a job costs its slot: more wins nothing.
6. If S slots are known, a bundle has at most the part R/(2*S) of what is left, so that they get
   shorter towards the end and the slots end together; but it lasts S/r, that starts keep up.
7. No more jobs are idle than run already, or than the schedd starts in a quarter of a second, so
   that sizes are found as late as possible, and what becomes ready meanwhile fills the next.  As
   long as nothing is known of times, as many may be idle as there are slots, or 500 if that is not
   known, since a pool gives slots to jobs that are idle when it looks for some.

Numbers that the author of the DAG has given win over all of this but the last.

4 is the square root rule for a fixed cost of each chunk (Kruskal and Weiss, "Allocating Independent
Subtasks on Parallel Processors", 1985).  6 is factoring (Hummel, Schonberg and Flynn, "Factoring: A
Method for Scheduling Parallel Loops", 1992), which halves what guided self-scheduling takes
(Polychronopoulos and Kuck, 1987), since times differ.  As there, t is a high guess: the mean of the
longer half of the last hundred tasks.

What no rule can avoid: a long task among hundreds of short ones comes without a warning, and those
that happen to be in its bundle, and their children, wait for it.
"""

from __future__ import annotations

from collections import deque
from math import ceil, sqrt

from condor_pydagman.named_tuple import NamedTuple

MAX_SIZE = 250  # tasks of a bundle, unless its author says otherwise. Larger ones were not faster
# Of work in a bundle, unless its author says otherwise. It is lost with a machine.
MAX_SECONDS = 300.0
PROBE_SIZE = 10  # tasks in a bundle, at most, of which no times are known
PROBES_OF_SLOT = 8  # such bundles that each slot must have work for. They may take any time
ENDED_OF_RUNNING = 2  # tasks that must have ended for each job that runs, before their times count
LEAST_ENDED = 10  # tasks that must have ended in any case: the first may be of another program
ENDED_OF_LATE = 50  # the same, for each job that is late: two in one bundle are unlikely then
LATE = 2.0  # times its expected time, after which a job is late. Most short ones have ended by then
LIVE_PART = 4  # tasks that each slot must have, at least, for larger ones while times are not known
RELEASE_S = 1.0  # that a task runs, at least, before those behind it are given back
LATE_S = 0.1  # by which a job must be late at least. Events come that late
LONG = 0.25  # part of the time in which all can be started that makes a task too long for packing
WORTH = 40.0  # times what a job costs its slot that a bundle takes, if each slot has several
SEVERAL = 8  # such bundles
LOST = 0.01  # part of a bundle's time that may be lost by its being a job
IDLE_S = 0.25  # for which jobs are kept ready to be started. An event is answered in less
PROBING_IDLE_S = 1.0  # the same, as long as times are not known
# For which jobs are idle then, if the number is not known. A pool gives slots to jobs that are
# idle when it looks for some, which may be once a minute.
ASSUMED_SLOTS = 500
QUEUED_S = 5.0  # of a chain, for which one that waits for each slot is enough. Jobs start in two
SAMPLES = 100  # tasks whose times are remembered
SHORTEST_S = 0.001  # of a task. No program starts and ends faster


class Limits(NamedTuple):
    """Of a BUNDLE command."""

    size: int = 0  # how many tasks go into a bundle; 0: as many as seems best
    seconds: float = 0.0  # for how much work; 0: for as much as seems best
    parallel: int = 1  # tasks that run side by side in a job


class Seen(NamedTuple):
    """What is known when bundles are made."""

    ready: int  # nodes of the kind that are ready
    # how many jobs of the kind the pool can run at once; 0: not known, which costs much of the gain
    # of short tasks.  Too high a number costs some of it; too low a one makes the DAG slower: it is
    # not the most that have run at once, before others have waited beside them in vain.
    slots: int = 0
    # jobs of this DAG in the queue, bundles or not
    running: int = 0
    idle: int = 0
    late: int = 0  # those of them that are, by `is_late`
    # of `Times`
    task_s: float = 0.0
    longest_s: float = 0.0
    ended: int = 0
    starts_per_s: float = 36.0  # how many jobs the schedd starts in a second
    job_s: float = 0.03  # for how long a job has its slot, beyond what its tasks take
    # whether what tasks come to is known while their bundle runs, and those that have not begun are
    # given back when one runs for long
    is_live: bool = False
    # tasks that run one after the other for each node that is ready; its times are theirs
    steps: int = 1


class Times:
    """How long tasks of one kind take."""

    def __init__(self) -> None:
        self.task_s = 0.0  # a guess, rather too high; 0.0: nothing is known
        self.longest_s = 0.0  # of those that are remembered
        self.ended = 0  # how many have ended in all
        self._last: deque[float] = deque(maxlen=SAMPLES)

    def add(self, *seconds: float) -> None:
        """Tasks have ended, which took so long."""
        self.ended += len(seconds)
        self._last.extend(max(one, SHORTEST_S) for one in seconds)
        if self._last:
            longer = sorted(self._last)[len(self._last) // 2 :]
            self.task_s, self.longest_s = sum(longer) / len(longer), longer[-1]


def is_late(ran: float, tasks: int, seen: Times, parallel: int = 1) -> bool:
    """Whether a job that has run for so long takes far longer than was to be expected."""
    return bool(seen.ended) and ran > LATE * seen.task_s * ceil(tasks / parallel) + LATE_S


def longest_of(ran: float, tasks: int, seen: Times, parallel: int = 1) -> float:
    """How long one of the tasks of a job takes at least, of one that has run for so long."""
    return max(0.0, ran - seen.task_s * (ceil(tasks / parallel) - 1))


def size(seen: Seen, limits: Limits) -> int:
    """How many nodes go into the bundle that is made next: 0, wait; 1, the node goes alone."""
    least_ended = min(LEAST_ENDED, seen.ready // 2)
    known = seen.ended > max(
        ENDED_OF_RUNNING * seen.running, ENDED_OF_LATE * seen.late, least_ended
    )
    if limits.size or limits.seconds:
        seen = seen._replace(steps=1)  # chains are not cut
    elif known and _is_long(seen, seen.ready + seen.idle):
        return min(1, seen.ready, _at_once(seen))
    if seen.idle >= _most_idle(seen, known):
        return 0
    least, most = _bounds(seen, limits, known)
    part = _part(seen, known) if seen.slots else most
    return min(max(min(part, most), least), seen.ready)


def _at_once(seen: Seen) -> int:
    """How many long ones go: all; or, of chains, what keeps slots busy, as the last may be cut."""
    if seen.steps == 1 or not seen.slots or seen.task_s < QUEUED_S:
        return seen.ready
    return max(0, max(seen.slots, _most_idle(seen, known=True)) - seen.idle)


def _part(seen: Seen, known: bool) -> int:
    """How many tasks are a slot's part, halved as long as slots can be given more."""
    if known or not seen.is_live:
        return seen.ready // (2 * seen.slots)
    empty = seen.slots - seen.running - seen.idle
    return ceil(seen.ready / (empty if empty > 0 else seen.slots))


def _is_long(seen: Seen, jobs: int) -> bool:
    """Whether some tasks take so long that starting so many jobs is not what the DAG waits for, nor
    what its slots are lost to."""
    return seen.longest_s > max(LONG * jobs / seen.starts_per_s, _worth_s(seen, seen.longest_s))


def _worth_s(seen: Seen, task_s: float) -> float:
    """How long a bundle takes beside which it is little that its job costs its slot, if each slot
    has work for several such bundles; 0: it has not."""
    if not (seen.is_live and seen.slots):
        return 0.0
    return min(seen.job_s * WORTH, seen.ready * task_s / (SEVERAL * seen.slots))


def _most_idle(seen: Seen, known: bool) -> int:
    if known:
        return max(seen.running, ceil(IDLE_S * seen.starts_per_s))
    if seen.steps > 1 and seen.slots:  # whole chains: what is known by then may cut the others
        return max(seen.slots - seen.running, seen.slots // 2)
    slots = seen.slots or ASSUMED_SLOTS
    return max(slots, seen.running, ceil(PROBING_IDLE_S * seen.starts_per_s))


def _bounds(seen: Seen, limits: Limits, known: bool) -> tuple[int, int]:
    """The least and the greatest size."""
    task_s = seen.task_s / limits.parallel  # one after the other
    if limits.size or (limits.seconds and seen.ended):
        most = limits.size or MAX_SIZE
        if limits.seconds and seen.ended:
            most = max(1, min(most, int(limits.seconds / task_s)))
        return most, most
    all_started_s = seen.ready / seen.starts_per_s
    if not known and seen.is_live and seen.slots and not seen.late:
        empty = max(1, seen.slots - seen.running - seen.idle)
        is_worth_it = seen.task_s < RELEASE_S and seen.ready > LIVE_PART * empty
        return 1, MAX_SIZE if is_worth_it else 1
    if not known:
        probe = seen.ready // (PROBES_OF_SLOT * seen.slots) if seen.slots else 1
        return 1, max(1, min(probe, PROBE_SIZE)) if not seen.late else 1
    if _is_long(seen, seen.ready):
        return 1, 1
    best_s = max(sqrt(all_started_s * task_s), _worth_s(seen, task_s))
    most_s = min(MAX_SECONDS, MAX_SIZE * task_s, best_s)
    least_s = 0.0
    if seen.slots:
        each_started_s = seen.slots / seen.starts_per_s
        least_s = min(most_s, each_started_s)
        most_s = min(most_s, 2 * each_started_s + seen.job_s / LOST)
    return _whole(least_s / task_s, limits), _whole(most_s / task_s, limits)


def _whole(tasks: float, limits: Limits) -> int:
    """A size for which the places side by side are full; 1 if there are too few for them."""
    return max(1, int(tasks) // limits.parallel * limits.parallel)
