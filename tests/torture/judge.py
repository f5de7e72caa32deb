"""Says from the ledger and the schedd's history whether a tortured DAG ran as its rules demand.

What is promised:

- A job.  For each attempt of a node that its RETRY allows, and no other, one cluster is submitted,
  and it runs to its end.  (HTCondor itself may start a job of it again after a crash of its own
  daemons: counted apart.)  A node that is bundled may begin in another job if its bundle has died,
  but not when it had ended and no file was transferred.  A job starts after every parent has
  succeeded, and after the attempt before.
- A script.  One whose end DAGMan has noted never runs again in that attempt: no PRE script once the
  attempt's job has started, no POST script once a child or the next attempt has begun, and none
  twice under the same DAGMan process.  One that ran, or whose end was not noted yet, when DAGMan
  died runs again under the next: nobody saw its end.
- A DAG.  It ends, and its exit code is what the nodes' rules make it.
- After condor_rm and a new submission: what the rescue file calls done does not run again, and it
  does so of every node with a child that had begun.
- Where the world has destroyed events of a node (`Facts.affected`), the schedd knows of its jobs,
  in its queue or its history, so what is promised for jobs holds; its scripts may run again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from tests.torture.ledger import Line
from tests.torture.workload import Node

WRITTEN_S = 1.0  # in which a runner writes down that a task has ended
ORPHANED_S = 5.0  # for which processes of a job go on whose starter was killed


class Generation(NamedTuple):
    """One run of a DAG: from a submission, or from a rescue file, to the next.

    Attributes:
        owners: clusters of its DAGMan jobs; one, unless a new one recovered the run of another.
        done: nodes that were done when it began.
        removed: it was removed, and need not have finished.
        code: its exit code; None if nobody knows it, or it does not matter.
    """

    owners: tuple[int, ...]
    done: frozenset[str] = frozenset()
    removed: bool = False
    code: int | None = None


@dataclass
class Facts:
    """What is known besides the ledger.

    Attributes:
        submissions: (owner, node, retry) -> clusters that the schedd has had for it.
        affected: nodes whose events the world has destroyed.
        bundles: clusters that carried bundles.
        killed: when what carries jobs was killed, seconds since the epoch.
    """

    submissions: Mapping[tuple[int, str, int], set[int]] = field(default_factory=dict)
    affected: frozenset[str] = frozenset()
    killed: tuple[float, ...] = ()
    bundles: frozenset[int] = frozenset()


@dataclass
class Verdict:
    """What was found.

    Attributes:
        jobs: clusters that ran, as they should.
        scripts: scripts that ran.
        duplicates: jobs that ran, or were submitted, more often than they should.
        noted: scripts that ran again although their end had been noted.
        lost: what should have run and did not.
        wrong: what else is not as the rules demand: order, exit code.
        by_schedd: jobs that HTCondor itself ran again.
        scripts_again: scripts that ran again since their DAGMan had died.
    """

    jobs: int = 0
    scripts: int = 0
    duplicates: list[str] = field(default_factory=list)
    noted: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    by_schedd: int = 0
    scripts_again: int = 0

    @property
    def good(self) -> bool:
        """Whether nothing is to be said against the run."""
        return not (self.duplicates or self.noted or self.lost or self.wrong)


Attempts = dict[int, list[Line]]


def judge(
    nodes: Iterable[Node], generations: Iterable[Generation], lines: Iterable[Line], facts: Facts
) -> Verdict:
    """Judge one DAG; lines of other nodes or owners are left alone."""
    verdict = Verdict()
    listed, runs = list(nodes), list(generations)
    first = {owner: run.owners[0] for run in runs for owner in run.owners}
    by_run: dict[int, dict[str, Attempts]] = {}
    for line in lines:
        attempts = by_run.setdefault(first.get(line.owner, 0), {}).setdefault(line.node, {})
        attempts.setdefault(line.retry, []).append(line)
    submissions: dict[tuple[int, str, int], set[int]] = {}
    for (owner, node, retry), clusters in facts.submissions.items():
        submissions.setdefault((first.get(owner, 0), node, retry), set()).update(clusters)
    merged = Facts(submissions, facts.affected, facts.killed, facts.bundles)
    for run in runs:
        _RunCheck(listed, run, by_run.get(run.owners[0], {}), merged, verdict).check()
    for run, following in zip(runs, runs[1:]):
        _check_rescue(listed, by_run.get(run.owners[0], {}), following, verdict)
    return verdict


def _check_rescue(
    nodes: list[Node], lines: dict[str, Attempts], following: Generation, verdict: Verdict
) -> None:
    """Who had children that began must be done in the rescue file, unless their files come home
    together, from one job."""
    begun = {
        name: {line.cluster for line in chain.from_iterable(attempts.values())}
        for name, attempts in lines.items()
    }
    children = [n for n in nodes if n.name in begun]
    needed = {parent: n for n in children for parent in n.parents if n.bundled != "yes"
              or not begun[n.name] <= begun.get(parent, set())}  # fmt: skip
    for name in needed:
        if name not in following.done:
            verdict.duplicates.append(f"{name} was done, but not for the rescue file: ran again")


class _RunCheck:
    """One generation under judgement."""

    def __init__(
        self,
        nodes: list[Node],
        generation: Generation,
        lines: dict[str, Attempts],
        facts: Facts,
        verdict: Verdict,
    ) -> None:
        self.nodes = nodes
        self.generation = generation
        self.lines = lines
        self.facts = facts
        self.verdict = verdict
        self.works: dict[str, bool] = {}  # whether it and all before it succeed
        self.ready: dict[str, int] = {}  # line of the ledger from which its children may start

    def check(self) -> None:
        known = {node.name for node in self.nodes}
        for name in self.lines:
            if name not in known:
                self.verdict.wrong.append(f"{name} ran, but is not in the DAG")
        for node in self.nodes:
            self._check_node(node)
        self._check_code()

    def _check_node(self, node: Node) -> None:
        attempts = self.lines.get(node.name, {})
        may_run = all(self.works[parent] for parent in node.parents)
        self.works[node.name] = may_run and node.works
        if node.name in self.generation.done or not may_run:
            why = "is done" if may_run else "has a parent that failed"
            if attempts:
                self.verdict.duplicates.append(
                    f"{node.name} ran although it {why}: {_at(attempts)}"
                )
            return
        self._check_order(node, attempts)
        seen = {*attempts, *(r for o, n, r in self.facts.submissions if (o, n) == self._me(node))}
        for retry in sorted(seen):
            if retry > node.last:
                text = f"{node.name} has attempt {retry}, though {node.last} is its last"
                self.verdict.duplicates.append(text)
        for retry in range(node.last + 1):
            whole = _Attempt(node, retry, attempts.get(retry, []), self).check()
            open_end = self.generation.removed and not any(later > retry for later in seen)
            if not whole and not open_end:
                self.verdict.lost.append(f"{node.name}, attempt {retry}: {_told(attempts, retry)}")

    def _me(self, node: Node) -> tuple[int, str]:
        return (self.generation.owners[0], node.name)

    def _check_order(self, node: Node, attempts: Attempts) -> None:
        """After the parents, the FINAL node after all; one attempt after the other."""
        every = [line for lines in attempts.values() for line in lines]
        if not every:
            return
        if not node.final:
            self.ready[node.name] = _ready_line(node, attempts)
        first = min(line.number for line in every)
        before = dict.fromkeys(node.parents)
        if node.final and not self.generation.removed:  # else removed nodes' POST scripts go on
            before = dict.fromkeys(self.ready)
        for parent in before:
            end = self.ready.get(parent, 0)
            if first < end and parent not in self.facts.affected:
                text = f"{node.name} began (line {first}) before {parent} had ended (line {end})"
                self.verdict.wrong.append(text)
        if node.name in self.facts.affected:
            return
        for retry in attempts:
            if retry + 1 in attempts:
                start = min(line.number for line in attempts[retry + 1])
                late = [line for line in attempts[retry] if line.number > start]
                text = f"{node.name}, attempt {retry + 1} began (line {start}) before the end"
                text = f"{text} of the one before (line {max(late)[0] if late else 0})"
                if any(line.what in ("start", "end") for line in late):
                    self.verdict.wrong.append(text)
                elif late:
                    self.verdict.noted.append(text)

    def _check_code(self) -> None:
        code = self.generation.code
        if code is None or self.generation.removed:
            return
        final = [node for node in self.nodes if node.final]
        good = final[0].works if final else all(self.works.values())
        if code != (0 if good else 1):
            what = "all its nodes succeed" if good else "a node of it fails"
            self.verdict.wrong.append(f"the DAG ended with {code}, though {what}")


class _Attempt:
    """One attempt of a node under judgement."""

    def __init__(self, node: Node, retry: int, lines: list[Line], run: _RunCheck) -> None:
        self.node = node
        self.retry = retry
        self.lines = lines
        self.name = f"{node.name}, attempt {retry}"
        self.verdict = run.verdict
        self.affected = node.name in run.facts.affected
        self.killed = run.facts.killed
        self.bundles = run.facts.bundles
        self.removed = run.generation.removed  # then jobs are, and POST scripts learn of it
        key = (run.generation.owners[0], node.name, retry)
        self.submitted = run.facts.submissions.get(key, set())

    def check(self) -> bool:
        """Whether all of it ran; what ran twice goes into the verdict."""
        whole = True
        if self.node.pre:
            whole = self._script("pre") and whole
        whole = self._jobs() and whole
        if self.node.has_post(self.retry):
            whole = self._script("post") and whole
            if not self.affected and not self.removed:
                self._returned()
        elif self._of("post"):
            self.verdict.duplicates.append(f"{self.name}: a POST script ran that should not")
        return whole

    def _of(self, *words: str) -> list[Line]:
        return [line for line in self.lines if line.what in words]

    def _jobs(self) -> bool:
        ran = self._of("start", "end")
        clusters = {line.cluster for line in ran} | self.submitted
        if not self.node.has_jobs(self.retry):
            if clusters:
                self.verdict.duplicates.append(
                    f"{self.name}: a job ran that should not: {clusters}"
                )
            return True
        if self.node.bundled:
            self._in_bundles(ran)
        elif len(clusters) > 1:
            ran_clusters = {line.cluster for line in ran}
            text = f"{self.name}: clusters {sorted(clusters)}, of which {sorted(ran_clusters)} ran"
            self.verdict.duplicates.append(text)
        self.verdict.jobs += bool(ran)
        ended = []
        procs = self._procs({line.proc for line in ran})
        for proc in procs:
            starts = [line for line in ran if line.proc == proc and line.what == "start"]
            ends = [line for line in ran if line.proc == proc and line.what == "end"]
            again = len(starts) - len({line.cluster for line in starts})
            self.verdict.by_schedd += again
            ended.append(bool(ends))
        strange = {line.proc for line in ran} - set(procs)
        if strange:
            self.verdict.wrong.append(f"{self.name}: procs {sorted(strange)} ran")
        # One that fails has the others removed.
        return any(ended) if self._fails() else all(ended)

    def _in_bundles(self, ran: list[Line]) -> None:
        """Its results may have been lost with a bundle, so that it has begun again in another; they
        are not when it had ended and no file was transferred."""
        begun: list[Line] = []
        ended: list[Line] = []  # with a result
        for line in ran:
            if line.what == "start":
                begun.append(line)
            elif not self._lost_its_runner(begun[-1].time if begun else 0.0, line.time):
                ended.append(line)
        again = [line for line in begun if ended and line.number > ended[0].number]
        # One that ran alone has a job of its own, which HTCondor itself may run again.
        again = [it for it in again if it.id != ended[0].id or it.cluster in self.bundles]
        if again and self.node.bundled == "no":
            text = f"{self.name}: ended (line {ended[0].number}), and began again in {again[0].id}"
            self.verdict.duplicates.append(text)
        self.verdict.by_schedd += len({line.cluster for line in ran}) > 1

    def _lost_its_runner(self, begun: float, ended: float) -> bool:
        """Whether nobody may have been there to write down that a task has ended."""
        first, last = begun - ORPHANED_S, ended + WRITTEN_S
        return any(first <= moment <= last for moment in self.killed)

    def _procs(self, ran: set[int]) -> Collection[int]:
        """The numbers of the node's procs; of an only one, whichever it is in a shared cluster."""
        return ran if self.node.procs == 1 and len(ran) == 1 else range(self.node.procs)

    def _fails(self) -> bool:
        return self.node.by == "job" and self.retry < self.node.fails

    def _script(self, kind: str) -> bool:
        begins, ends = self._of(kind), self._of(f"{kind}-end")
        self.verdict.scripts += bool(begins)
        self.verdict.scripts_again += max(0, len(begins) - 1)
        if self.affected:
            return bool(ends)
        if len(begins) > len({line.id for line in begins}):
            text = f"{self.name}: its {kind.upper()} script ran twice under one DAGMan"
            self.verdict.noted.append(text)
        after = self._of("start") if kind == "pre" else []
        if begins and after and max(b.number for b in begins) > min(a.number for a in after):
            text = f"{self.name}: its PRE script ran again after its job had started"
            self.verdict.noted.append(text)
        return bool(ends)

    def _returned(self) -> None:
        """What a POST script was told, and when it ran."""
        due = 1 if self._fails() else 0
        for line in self._of("post"):
            if line.extra != due:
                text = f"{self.name}: its POST script was told $RETURN {line.extra}, not {due}"
                self.verdict.wrong.append(text)
        jobs = [line.number for line in self._of("end")]
        posts = [line.number for line in self._of("post")]
        if jobs and posts and min(posts) < min(jobs):
            self.verdict.wrong.append(f"{self.name}: its POST script ran before its job ended")


def _ready_line(node: Node, attempts: Attempts) -> int:
    """The line with which the node's last attempt had ended, as DAGMan had to see it.

    A job that HTCondor ran again may end a second time after DAGMan has read of its first end.
    """
    last = attempts[max(attempts)]
    posts = [line.number for line in last if line.what in ("post", "post-end")]
    ends: dict[str, int] = {}
    for line in last:
        if line.what == "end":
            ends.setdefault(line.id, line.number)
    pre = [line.number for line in last if line.what == "pre-end"]
    if node.has_post(max(attempts)) and posts:
        return max(posts)
    return max([*ends.values(), *(pre if not ends else [])], default=0)


def _at(attempts: Attempts) -> str:
    return ", ".join(f"line {line.number}" for lines in attempts.values() for line in lines)


def _told(attempts: Attempts, retry: int) -> str:
    lines = attempts.get(retry, [])
    if not lines:
        return "never ran"
    return "not whole: " + " ".join(f"{line.what}({line.id})" for line in lines)
