"""What holds in every run of a DAG, whoever watches it: the simulator, or the torture test.

A `Record` is told what happens, in its order, and says which oracle objects:

O1  Nothing of a node begins before all that it waits for is done.
O2  An attempt of a node begins when nothing of the one before is left.
O4  An attempt has one job, and there is no attempt after the last that RETRY allows.
O5  Nothing of a node begins that is done.
O6  A script whose end DAGMan has noted does not run again, and none runs twice at a time.
O8  A rescue file marks nodes that are done, and leaves out none that it has to mark.
O14 The exit code is 0 if all is done that has to be, and else it is not.
O57 A run that ends leaves no job in the queue.

An attempt is one run of a node, counted from 0.  The oracles of the simulator alone have the other
numbers, see `tests/sim/oracles.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable


class Violation(AssertionError):
    """An oracle objects; the text begins with its number."""


def require(holds: bool, what: str) -> None:
    """Raise Violation unless it holds."""
    if not holds:
        raise Violation(what)


def refuse(oracle: str, what: str) -> None:
    """It objects to that."""
    require(False, f"{oracle}: {what}")


class Record:
    """One run of a DAG, from its begin, or that of its rescue DAG.

    Args:
        done: nodes that were done when it began.
        objects: is told to what which oracle objects; `refuse` by default.

    Attributes:
        done: nodes that are done.
        changed: nodes of which something other than their own runs may have changed what they have
            done, so that it may count no more, or too late: O5, O8 and O14 are not asked.
        unsure: nodes of which DAGMan's log has lost something: O1, O2, O5 and O6 are not asked.
        noted: scripts whose ends DAGMan has noted, each with its attempt and its kind.
    """

    def __init__(self, done: Iterable[str], objects: Callable[[str, str], None] = refuse) -> None:
        self.done = set(done)
        self.changed: set[str] = set()
        self.unsure: Collection[str] = ()
        self.noted: set[tuple[str, int, Hashable]] = set()
        self._objects = objects
        self._jobs: dict[tuple[str, int], set[Hashable]] = {}
        self._running: set[tuple[str, Hashable, Hashable]] = set()
        self._newest: dict[str, int] = {}

    def begins(
        self,
        node: str,
        attempt: int,
        awaited: Collection[str],
        excused: Collection[str] = (),
        in_queue: Collection[str] = (),
        last: int | None = None,
    ) -> None:
        """Something of an attempt does; `excused` nodes are awaited, but need not be done,
        `in_queue` are those with jobs there, and `last` is the last attempt, as far as is known."""
        over = last is not None and attempt > last
        self._require(not over, "O4", f"{node} has attempt {attempt}, though {last} is its last")
        early = [parent for parent in awaited if parent in in_queue]
        self._require(not early, "O1", f"{node} begins while {early} are in the queue")
        self._newest[node] = max(attempt, self._newest.get(node, 0))
        if node in self.unsure:
            return
        early = [parent for parent in awaited if parent not in self.done and parent not in excused]
        self._require(not early, "O1", f"{node} begins before {early} are done")
        self._require(node not in in_queue, "O2", f"{node} begins anew while it is in the queue")
        over = node in self.done - self.changed
        self._require(not over, "O5", f"{node}, attempt {attempt} begins, but {node} is done")

    def goes_on(self, node: str, attempt: int) -> None:
        """A job of an attempt does."""
        newest = self._newest[node]
        over = attempt < newest and node not in self.unsure
        self._require(not over, "O2", f"{node}: {attempt} goes on, attempt {newest} has begun")

    def has_job(self, node: str, attempt: int, job: Hashable) -> None:
        """An attempt has a job, of however many procs."""
        jobs = self._jobs.setdefault((node, attempt), set())
        text = f"{node}, attempt {attempt}: job {job} beside {jobs}"
        self._require(not jobs or job in jobs, "O4", text)
        jobs.add(job)

    def job_lost(self, node: str, attempt: int, job: Hashable) -> None:
        """What a job has done may be known to nobody: there may be another."""
        self._jobs.get((node, attempt), set()).discard(job)

    def script_begins(self, node: str, attempt: int, kind: Hashable, by: Hashable) -> None:
        """A script does, under a DAGMan."""
        script, text = (node, attempt, kind), f"{node}, attempt {attempt}: its {kind} script"
        twice = (node, kind, by) in self._running
        self._require(not twice, "O6", f"{text} runs twice at a time")
        self._running.add((node, kind, by))
        if node not in self.unsure:
            self._require(script not in self.noted, "O6", f"{text} runs again")

    def script_ends(self, node: str, kind: Hashable, by: Hashable) -> None:
        """It does; DAGMan may not know yet, or want to run it again."""
        self._running.discard((node, kind, by))

    def rescued(self, marked: Iterable[str], wanted: Iterable[str]) -> None:
        """A rescue file says that the marked nodes are done, and has to say so of those wanted."""
        marked = set(marked)
        false = marked - self.done - self.changed
        self._require(not false, "O8", f"{false} are marked, but not done")
        missing = set(wanted) - marked - self.changed
        self._require(not missing, "O8", f"{missing} are done, but not marked")

    def ended(self, code: int, wanted: Iterable[str], left: Collection[str] = ()) -> None:
        """The run has; `wanted` had to be done, `left` are jobs in the queue, or their nodes."""
        self._require(not left, "O57", f"exit code {code}, but {left} are left in the queue")
        missing = set(wanted) - self.done - self.changed
        text = f"exit code {code}, not done are {missing or 'none'}"
        self._require((code == 0) == (not missing), "O14", text)

    def _require(self, holds: bool, oracle: str, text: str) -> None:
        if not holds:
            self._objects(oracle, text)
