"""Plays small DAGs on the engine and tells what conditions see and what follows, as the tables of
docs/decisions.md and of the man page dagman-language: so tables and engine always agree.

`python -m tools.generate` writes them.
"""

from __future__ import annotations

import re
from collections import deque
from pathlib import Path
from typing import NamedTuple

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.features.run_if.adapters.evaluation import evaluate
from condor_pydagman.features.run_if.run import (
    ConditionResult,
    ConditionsEvaluated,
    ConditionWanted,
)
from condor_pydagman.features.steering.run import NodesSteered
from condor_pydagman.features.steering.steer_commands import NodeCommand
from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.graph.model import Dag
from condor_pydagman.vocabulary import (
    NOOP_PROC,
    EventKind,
    NodeStatus,
    ScriptKind,
)

BEGIN, END = "<!-- generated: {} -->\n", "<!-- end -->\n"
_NODES = "JOB A a.sub\nJOB X a.sub\nJOB Y a.sub\nPARENT A CHILD X\nPARENT X CHILD Y\n"
_WORDS = {NodeStatus.ERROR: "failed", NodeStatus.FUTILE: "futile", NodeStatus.NOT_READY: "waits"}


class Case(NamedTuple):
    """A DAG that is played.

    Attributes:
        what: the row's heading.
        lines: of the DAG file, after those of nodes A, X and Y.
        values: by node, what its runs return, the last one again and again.
        pre: by node, what its PRE script returns.
        steer: a person's command for A, before it has begun.
    """

    what: str
    lines: str = ""
    values: tuple[tuple[str, tuple[int, ...]], ...] = ()
    pre: int = 0
    steer: NodeCommand | None = None


_WAITS = "JOB B a.sub\nPARENT B CHILD A"
_A_FAILS = (("A", (3,)),)
RESULTS = (
    Case("true", "RUN_IF X true"),
    Case("false", "RUN_IF X false"),
    Case("false, `ELSE DONE`", "RUN_IF X ELSE DONE false"),
    Case("false, `RUN_IF` of the child is true", "RUN_IF X false\nRUN_IF Y true"),
    Case("undefined, an error, no truth value", "RUN_IF X Parents.A.n > 3"),
)
SEEN = (
    Case("has succeeded"),
    Case("has failed", values=_A_FAILS),
    Case("was killed by signal 9", values=(("A", (-9,)),)),
    Case("has failed, and succeeded in a retry", "RETRY A 2", (("A", (3, 0)),)),
    Case("has failed, `UNLESS-EXIT`", "RETRY A 2 UNLESS-EXIT 3", _A_FAILS),
    Case("has failed, and the edge is `WEAK`", "WEAK PARENT A CHILD X", _A_FAILS),
    Case("has failed, `TOLERANCE` allows it", "TOLERANCE A 1", _A_FAILS),
    Case("has a POST script that succeeds", "SCRIPT POST A p.sh", _A_FAILS),
    Case("is skipped by `PRE_SKIP`", "SCRIPT PRE A p.sh\nPRE_SKIP A 7", pre=7),
    Case("is futile", _WAITS, (("B", (3,)),)),
    Case("is skipped by its own `RUN_IF`", "RUN_IF A false"),
    Case("ends the DAG, `ABORT-DAG-ON`", "ABORT-DAG-ON A 3", _A_FAILS),
    Case("is skipped by a person", _WAITS, steer=NodeCommand.SKIP),
    Case("is marked done by a person", _WAITS, steer=NodeCommand.DONE),
    Case("is cancelled by a person", _WAITS, steer=NodeCommand.CANCEL),
)


_TWO = "JOB B a.sub\nJOB Z a.sub\nPARENT B CHILD Z\nCATEGORY A c\nCATEGORY B c\n"
_B_FAILS = (("B", (3,)),)
_A_IS_LATE = (("A", (3, 0)), ("B", (3,)))
_TWO_PARENTS = f"{_TWO}PARENT B CHILD X\nENOUGH PARENTS X "
ENOUGH = (
    Case("1 of A and B; B is done, too", f"{_TWO}ENOUGH CATEGORY c 1"),
    Case("1; B waits for a retry", f"{_TWO}RETRY B 9\nENOUGH CATEGORY c 1", _B_FAILS),
    Case("1; B has failed before", f"{_TWO}RETRY A 1\nENOUGH CATEGORY c 1", _A_IS_LATE),
    Case("2; B has failed", f"{_TWO}ENOUGH CATEGORY c 2", _B_FAILS),
    Case("1 of the parents A and B of X; B has failed", f"RETRY A 1\n{_TWO_PARENTS}1", _A_IS_LATE),
    Case("2 of the parents of X; B has failed", f"{_TWO_PARENTS}2", _B_FAILS),
)


class Play:
    """A DAG that is run on the engine: every job ends at once.

    Attributes:
        seen: the ad that the condition of X was evaluated in, '' if it was not.
        code: exit code of the DAG.
    """

    def __init__(self, case: Case) -> None:
        decides = "RUN_IF X" in case.lines or "ENOUGH" in case.lines
        condition = "" if decides else "RUN_IF X isString(Parents.A.Outcome)\n"
        text = f"{_NODES}{condition}{case.lines}\n"
        if "WEAK" in case.lines:
            text = text.replace("PARENT A CHILD X\n", "", 1)
        self._case = case
        self._dag: Dag = build(["d.dag"], lambda _: text, BuildOptions())
        self._engine = Engine(self._dag, Config(check_queue_interval=0), Throttles())
        self._values = {name: list(values) for name, values in case.values}
        self._clusters = 0
        self.seen = ""
        self.code: int | None = None
        self._run()

    def _run(self) -> None:
        todo: deque[inputs.Input] = deque([inputs.Begin(recovering=False)])
        if self._case.steer is not None:
            node = self._dag.ids["A"]
            todo.append(NodesSteered(1, self._case.steer, [node], "ann"))
        while todo:
            for action in self._engine.handle(todo.popleft(), 0.0):
                todo.extend(self._answers(action))

    def _answers(self, action: do.Action) -> list[inputs.Input]:
        if isinstance(action, do.SubmitNode):
            return self._submitted(action.node)
        if isinstance(action, do.RunScript):
            status = self._case.pre if action.kind is ScriptKind.PRE else 0
            return [inputs.ScriptEnded(action.node, action.kind, status)]
        if isinstance(action, do.Ask):
            results = [self._evaluated(one) for one in action.request.wanted]
            return [inputs.Answered(action.helper, ConditionsEvaluated(results))]
        if isinstance(action, do.WriteRescue):
            return [inputs.RescueWritten()]
        if isinstance(action, do.Exit):
            self.code = action.code
        return list(self._appended(action))

    def _appended(self, action: do.Action) -> list[LogEvent]:
        """What the nodes log shows of an event of DAGMan's own."""
        if isinstance(action, do.AppendJournalRecord):
            name, ids = self._dag.names[action.node], (action.cluster, action.proc, -1)
            record, retry, value = action.record, action.retry, action.value
            text = action.text
            kind = EventKind.GENERIC
            return [LogEvent(kind, *ids, 0.0, "", name, value, record, retry, text)]
        if isinstance(action, do.AppendPostEnded):
            ids = (action.cluster, action.proc, action.subproc)
            name = self._dag.names[action.node]
            kind = EventKind.POST_SCRIPT_TERMINATED
            return [LogEvent(kind, *ids, node=name, value=action.status)]
        if isinstance(action, do.AppendPreSkip):
            name = self._dag.names[action.node]
            return [LogEvent(EventKind.PRESKIP, 0, NOOP_PROC, action.subproc, node=name)]
        return []

    def _submitted(self, node: int) -> list[inputs.Input]:
        self._clusters += 1
        name, cluster = self._dag.names[node], self._clusters
        values = self._values.get(name, [0])
        value = values.pop(0) if len(values) > 1 else values[0]
        return [
            inputs.Submitted(node, cluster, 1),
            LogEvent(EventKind.SUBMIT, cluster, 0, 0, node=name),
            LogEvent(EventKind.JOB_TERMINATED, cluster, 0, 0, value=value),
        ]

    def _evaluated(self, wanted: ConditionWanted) -> ConditionResult:
        if wanted.node == self._dag.ids["X"]:
            self.seen = wanted.ad
        verdict = evaluate(wanted.expression, wanted.ad, wanted.shown)
        return ConditionResult(wanted.node, wanted.number, *verdict)

    def state(self, name: str) -> str:
        """How a node is at the end, for people."""
        for one in self._engine.node_reports():
            if one.name == name:
                if one.not_needed:
                    return "not needed"
                if one.skipped:
                    return "skipped"
                ran = bool(one.job)
                return (
                    ("runs" if ran else "done")
                    if one.status == NodeStatus.DONE
                    else _WORDS[one.status]
                )
        raise KeyError(name)

    def fact(self, name: str) -> str:
        """What the condition of X could ask of A."""
        parents = self.seen.partition("];];")[0]
        found = re.search(rf"\b{name} ?= ?([^;\]]+)", parents)
        return found[1].strip('"') if found else "undefined"


def results_rows() -> list[tuple[str, ...]]:
    """What follows from a condition of X, whose child is Y."""
    plays = [(case.what, Play(case)) for case in RESULTS]
    return [(what, p.state("X"), p.state("Y"), str(p.code)) for what, p in plays]


def seen_rows() -> list[tuple[str, ...]]:
    """What the condition of X sees of its parent A."""
    rows: list[tuple[str, ...]] = []
    for case in SEEN:
        play = Play(case)
        facts = tuple(map(play.fact, ("Outcome", "ExitCode", "Signal", "Retries")))
        rows.append(
            (case.what, *(facts if play.seen else ("not evaluated", "", "", "")), str(play.code))
        )
    return rows


def enough_rows() -> list[tuple[str, ...]]:
    """What becomes of B, its child Z, and X, whose parent A is done."""
    plays = [(case.what, Play(case)) for case in ENOUGH]
    return [(what, *map(play.state, "BZX"), str(play.code)) for what, play in plays]


TABLES = {
    "enough": (
        ("enough are", "B", "the child of B", "X, a child of A", "exit code"),
        enough_rows,
    ),
    "results": (("the condition is", "the node", "its child", "exit code"), results_rows),
    "seen": (
        ("the parent", "Outcome", "ExitCode", "Signal", "Retries", "exit code of the DAG"),
        seen_rows,
    ),
}


def markdown(name: str) -> str:
    """A table for docs/decisions.md."""
    heading, rows = TABLES[name]
    lines = [heading, tuple("---" for _ in heading), *rows()]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def troff(name: str) -> str:
    """A table for a man page, as a list."""
    heading, rows = TABLES[name]
    lines = []
    for row in rows():
        said = ", ".join(f"{what}: {value}" for what, value in zip(heading[1:], row[1:]) if value)
        lines.append(f".TP\n{heading[0]} {row[0].replace('`', '')}\n{said}\n".replace("-", r"\-"))
    return "".join(lines)


def document(path: Path) -> str:
    """The text of a document with its tables as they are to be."""
    text = path.read_text("utf-8")
    for name in TABLES:
        before, found, rest = text.partition(BEGIN.format(name))
        if not found:
            raise ValueError(f"{path} has no line {BEGIN.format(name)}")
        text = before + found + "\n" + markdown(name) + "\n" + END + rest.partition(END)[2]
    return text
