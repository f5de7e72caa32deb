"""Says from the ledger and the schedd's history whether a tortured DAG ran as its rules demand.

What must hold is in docs/torture.md: the oracles of `tests/oracles.py`, which this tells what the
ledger says, and that each attempt runs to its end that a node's RETRY allows.

A script's end counts as noted when the attempt's job has started (PRE), when a child or the next
attempt has begun, and when its DAGMan goes on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.oracles import Record
from tests.torture.ledger import Line
from tests.torture.workload import Node

WRITTEN_S = 1.0  # in which a runner writes down that a task has ended
ORPHANED_S = 5.0  # for which processes of a job go on whose starter was killed
BAD = ("duplicates", "noted", "lost", "wrong")  # what a verdict has of findings
# What the objection of an oracle is, in a verdict.
_MEANS = {"O4": "duplicates", "O5": "duplicates", "O6": "noted", "O8": "duplicates"}


class Generation(NamedTuple):
    """One run of a DAG: from a submission, or from a rescue file, to the next.

    Attributes:
        owners: clusters of its DAGMan jobs; one, unless a new one recovered the run of another.
        done: nodes that were done when it began.
        removed: it was removed, and need not have finished.
        code: its exit code; None if nobody knows it, or it does not matter.
        left: jobs that it has left in the queue.
    """

    owners: tuple[int, ...]
    done: frozenset[str] = frozenset()
    removed: bool = False
    code: int | None = None
    left: tuple[int, ...] = ()


@dataclass
class Facts:
    """What is known besides the ledger.

    Attributes:
        submissions: (owner, node, retry) -> clusters that the schedd has had for it.
        removed: (owner, node, retry) of jobs that the schedd has removed as the DAG was removed.
        affected: nodes whose events the world has destroyed.
        bundles: clusters that carried bundles.
        killed: when what carries jobs was killed or vacated, seconds since the epoch.
    """

    submissions: Mapping[tuple[int, str, int], set[int]] = field(default_factory=dict)
    affected: frozenset[str] = frozenset()
    killed: tuple[float, ...] = ()
    bundles: frozenset[int] = frozenset()
    removed: frozenset[tuple[int, str, int]] = frozenset()


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
    def findings(self) -> list[str]:
        """All that is to be said against the run."""
        return [f"{word}: {text}" for word in BAD for text in getattr(self, word)]


def judge(
    nodes: Sequence[Node], generations: Iterable[Generation], lines: Sequence[Line], facts: Facts
) -> Verdict:
    """Judge one DAG; lines of other nodes or owners are left alone."""
    verdict = Verdict()
    before = None
    for generation in generations:
        run = _Run(nodes, generation, facts, verdict)
        if before is not None:
            before.is_rescued(generation.done)
        run.check([line for line in lines if line.owner in generation.owners])
        before = run
    return verdict


class _Attempt(NamedTuple):
    """What the ledger says of an attempt of a node."""

    node: Node
    retry: int
    lines: list[Line]

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.node.name}, attempt {self.retry}"

    def of(self, *words: str) -> list[Line]:
        """Lines of that."""
        return [line for line in self.lines if line.what in words]

    @property
    def is_whole(self) -> bool:
        """Whether all of it ran."""
        whole = self.jobs_are_whole and (not self.node.pre or bool(self.of("pre-end")))
        return whole and (not self.node.has_post(self.retry) or bool(self.of("post-end")))

    @property
    def jobs_are_whole(self) -> bool:
        """One that fails has the others removed."""
        if not self.node.has_jobs(self.retry) or self.retry in self.node.removed:
            return True
        ended = {line.proc for line in self.of("end")}
        return bool(ended) if self.job_fails else len(ended) >= self.node.procs

    @property
    def job_fails(self) -> bool:
        """Whether it does by its rule."""
        return self.node.by == "job" and self.retry < self.node.fails


class _Run(Record):
    """One generation under judgement."""

    def __init__(
        self, nodes: Sequence[Node], generation: Generation, facts: Facts, verdict: Verdict
    ) -> None:
        super().__init__(generation.done, self._object)
        self.unsure = facts.affected
        self.generation = generation
        self.facts = facts
        self.verdict = verdict
        self.line = 0  # of the ledger
        self.ran: set[str] = set()  # nodes that did
        self.failed: set[str] = set()  # so far
        self.clusters: defaultdict[str, set[int]] = defaultdict(set)  # of each node
        self.nodes: dict[str, Node] = {}
        self.works: dict[str, bool] = {}  # whether it and all before it succeed
        for node in nodes:
            keys = {(owner, node.name) for owner in generation.owners}
            removed = frozenset(retry for *key, retry in facts.removed if tuple(key) in keys)
            self.nodes[node.name] = node._replace(removed=removed)
            self.works[node.name] = self._may_run(node) and self.nodes[node.name].works
        self.seen = {node.name for node in nodes if node.leaves_traces}
        self.attempts: dict[str, dict[int, _Attempt]] = {name: {} for name in self.nodes}

    def _object(self, oracle: str, text: str) -> None:
        where = f"line {self.line}: " * bool(self.line)
        getattr(self.verdict, _MEANS.get(oracle, "wrong")).append(f"{oracle}: {where}{text}")

    def check(self, lines: Sequence[Line]) -> None:
        self.ran = {line.node for line in lines}
        unknown = self.ran - self.nodes.keys()
        self.verdict.wrong += [f"{name} ran, but is not in the DAG" for name in sorted(unknown)]
        for line in lines:
            self.line = line.number
            if line.node in self.nodes:
                self._tell(self.nodes[line.node], line)
        self.line = 0
        self._tell_submissions()
        for node in self.nodes.values():
            if node.name not in self.generation.done and self._may_run(node):
                self._check_all_ran(node)
        self._check_end()

    def is_rescued(self, marked: frozenset[str]) -> None:
        """The rescue file says so; who had children that began must be done in it, unless their
        files come home together, from one job."""
        wanted = {
            parent
            for name in filter(self.attempts.get, self.nodes)
            for parent in self.nodes[name].parents
            if self.nodes[name].bundled != "yes" or not self.clusters[name] <= self.clusters[parent]
        }
        self.rescued(marked & self.seen, wanted & self.seen)

    def _may_run(self, node: Node) -> bool:
        return all(self.works[parent] for parent in node.parents)

    # What happens, in its order.

    def _tell(self, node: Node, line: Line) -> None:
        if line.retry not in self.attempts[node.name]:
            self._begins(node, line.retry)
        attempt = self.attempts[node.name][line.retry]
        if line.what in ("start", "end"):
            self._job(attempt, line)
        elif line.what in ("pre", "post"):
            self._script(attempt, line)
        else:
            self.script_ends(node.name, line.what.partition("-")[0], line.id)
        attempt.lines.append(line)
        self.clusters[line.node].add(line.cluster)
        if line.retry == node.last and attempt.is_whole:
            (self.done if node.works else self.failed).add(node.name)

    def _begins(self, node: Node, retry: int) -> None:
        """An attempt does: so all scripts that came before have been noted."""
        awaited = self._awaited(node)
        self.begins(node.name, retry, awaited, excused=self.facts.affected, last=node.last)
        for name in (*awaited, node.name):
            for number in self.attempts[name]:
                self.noted |= {(name, number, "pre"), (name, number, "post")}
        self.attempts[node.name][retry] = _Attempt(node, retry, [])

    def _awaited(self, node: Node) -> list[str]:
        """The parents; by the FINAL node all that run and have not failed, but not if the DAG was
        removed: then POST scripts go on."""
        if not node.final:
            return [name for name in node.parents if name in self.seen]
        running = () if self.generation.removed else self.ran & self.nodes.keys()
        return sorted({*running} - self.failed - {node.name})

    def _tell_submissions(self) -> None:
        """Those of which the ledger says nothing came when everything before them had ended."""
        for (owner, name, retry), clusters in sorted(self.facts.submissions.items()):
            if owner not in self.generation.owners or name not in self.nodes:
                continue
            if retry > max(self.attempts[name], default=-1):
                self._begins(self.nodes[name], retry)
            for cluster in sorted(clusters):
                self._has_job(_Attempt(self.nodes[name], retry, []), cluster)

    def _has_job(self, attempt: _Attempt, cluster: int) -> None:
        node, retry = attempt.node, attempt.retry
        if not node.has_jobs(retry):
            self.verdict.duplicates.append(f"{attempt.name}: job {cluster} ran that should not")
        elif not node.bundled:
            self.has_job(node.name, retry, cluster)

    def _job(self, attempt: _Attempt, line: Line) -> None:
        self.goes_on(line.node, line.retry)
        if line.what == "start":
            self._has_job(attempt, line.cluster)
            self.noted.add((line.node, line.retry, "pre"))
            starts = attempt.of("start")
            self.verdict.by_schedd += line.id in {other.id for other in starts}
            if attempt.node.bundled and starts:
                self._starts_again(attempt, line)

    def _starts_again(self, attempt: _Attempt, line: Line) -> None:
        """Its results may have been lost with a bundle, so that it begins again in another; they
        are not when it had ended and no file was transferred."""
        begun, with_result = 0.0, []
        for other in attempt.of("start", "end"):
            if other.what == "start":
                begun = other.time
            elif not self._lost_its_runner(begun, other.time):
                with_result.append(other)
        # One that ran alone has a job of its own, which HTCondor itself may run again.
        alone = line.cluster not in self.facts.bundles
        self.verdict.by_schedd += line.cluster not in {it.cluster for it in attempt.of("start")}
        if not with_result or attempt.node.bundled != "no":
            return
        if not (alone and line.id == with_result[0].id):
            text = f"ended (line {with_result[0].number}), and began again in {line.id}"
            self.verdict.duplicates.append(f"{attempt.name}: {text}")

    def _lost_its_runner(self, begun: float, ended: float) -> bool:
        """Whether nobody may have been there to write down that a task has ended."""
        first, last = begun - ORPHANED_S, ended + WRITTEN_S
        return any(first <= moment <= last for moment in self.facts.killed)

    def _script(self, attempt: _Attempt, line: Line) -> None:
        kind, node = line.what, attempt.node
        if any(other.id == line.id for other in attempt.of(f"{kind}-end")):
            self.noted.add((line.node, line.retry, kind))  # by a DAGMan that lives
        self.script_begins(line.node, line.retry, kind, line.id)
        if kind == "post" and not node.has_post(line.retry):
            self.verdict.duplicates.append(f"{attempt.name}: a POST script ran that should not")
        elif kind == "post" and not (self.generation.removed or line.node in self.facts.affected):
            self._is_told(attempt, line)

    def _is_told(self, attempt: _Attempt, line: Line) -> None:
        """What a POST script is, and when it runs."""
        due = int(attempt.job_fails)
        if line.extra != due and line.retry not in attempt.node.removed:
            text = f"{attempt.name}: its POST script was told $RETURN {line.extra}, not {due}"
            self.verdict.wrong.append(text)
        if not attempt.jobs_are_whole:
            self.verdict.wrong.append(f"{attempt.name}: its POST script ran before its job ended")

    # The end.

    def _check_all_ran(self, node: Node) -> None:
        attempts = self.attempts[node.name]
        for retry in range(node.last + 1):
            attempt = attempts.get(retry, _Attempt(node, retry, []))
            open_end = self.generation.removed and retry >= max(attempts, default=0)
            if not attempt.is_whole and not open_end:
                ran = " ".join(f"{line.what}({line.id})" for line in attempt.lines)
                self.verdict.lost.append(f"{attempt.name}: not whole: {ran or 'never ran'}")
            for begins in (attempt.of("pre"), attempt.of("post")):
                self.verdict.scripts += bool(begins)
                self.verdict.scripts_again += len(begins[1:])
            procs = {line.proc for line in attempt.of("start", "end")}
            self.verdict.jobs += bool(procs)
            strange = procs.difference(range(node.procs))
            if strange and (node.procs > 1 or len(procs) > 1):  # an only one has any number
                self.verdict.wrong.append(f"{attempt.name}: procs {sorted(strange)} ran")

    def _check_end(self) -> None:
        code = self.generation.code
        if code is None or self.generation.removed:
            return
        final = [node.name for node in self.nodes.values() if node.final]
        self.ended(code, final or self.seen, self.generation.left)
        if code not in (0, 1):
            self.verdict.wrong.append(f"the DAG ended with {code}")
