"""Plays the scenes of tests/scenes that are marked `(pool)` on the real pool, by our condor_dagman
and by stock's, whose part is recorded.  What the engine comes to, step by step beside them, says
what has to come out: states of nodes, exit code, scripts, rescue file, events of jobs.

A job, or a script, goes on until the scene says how it ends.  `_WORDS` has what can happen there;
what takes its time, takes it: `+2 s` and `deadline` need nothing to be done.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_states import State
from condor_pydagman.records.node_status import node_status_text
from condor_pydagman.records.node_status_ads import node_status_ads
from condor_pydagman.vocabulary import ORDINARY_KINDS, DagStatus, EventKind, NodeKind, NodeStatus
from tests import make
from tests.contract.test_readers_of_logs import by_text
from tests.pool import scenes as on_pool
from tests.pool.access_point import OURS, STOCK
from tests.pool.scenes import Played
from tests.pool.stock import Stock, plain
from tests.pool.test_steering import steer
from tests.scenes.jobs import Job
from tests.scenes.phrases import happen
from tests.scenes.reading import Scene, learn, scenes
from tests.scenes.stage import Stage

learn()
TOLD = """\
#!/bin/sh
# told.sh KIND NAME WORDS...: writes that down, and goes on until it is told how to end: by an exit
# code, or by a signal
echo "$@" >> ledger
until mv "end.$1.$2" "ended.$1.$2" 2> /dev/null || test -e end.all; do
    test -d "/proc/$PPID" || exit 1
    sleep 0.1
done
code=$(cat "ended.$1.$2" 2> /dev/null || echo 0)
rm -f "ended.$1.$2"
case $code in -*) kill "$code" $$ ;; esac
exit "$code"
"""
SUBMIT = """\
universe = scheduler
executable = told.sh
arguments = $(JOB) $(Process)
queue $(procs:1)
"""
# It leaves the queue with any code; only a kill has it started again.
STAYS_AWAY = "on_exit_remove = ExitBySignal =!= true"
_SCRIPT = re.compile(r"(?m)^( *SCRIPT +(?:DEFER +\d+ +\d+ +)?(PRE|POST|HOLD) +\S+) +")
_RUN = re.compile(r"run (\w+) of (\w+)(?:\.\d+ hold \d+)? \((.*)\)")
_ENDS = (EventKind.JOB_TERMINATED, EventKind.POST_SCRIPT_TERMINATED)
_COMPARED = {*_ENDS, EventKind.SUBMIT, EventKind.JOB_ABORTED, EventKind.PRESKIP}
_COMPARED |= {EventKind.JOB_HELD, EventKind.JOB_RELEASED}

# What becomes of a job: its event, and the command that brings it about.
_OF_JOB = {
    "runs": ("EXECUTE", ""),
    "is held": ("JOB_HELD", "condor_hold"),
    "is released": ("JOB_RELEASED", "condor_release"),
    "is removed": ("JOB_ABORTED", "condor_rm"),
}


class Player:
    """Plays one scene: on the engine, and at the same time on the pool.

    Attributes:
        done: what the engine has done, in words.
    """

    def __init__(self, pool: on_pool.Scene, scene: Scene) -> None:
        self.pool, self.scene = pool, scene
        self.stage = Stage(scene)
        self.done: list[str] = []
        self._ended: Counter[str] = Counter()  # runs of jobs and scripts that are over, by name
        self._held: set[Job] = set()
        self._rescued: list[list[str]] = [[]]  # by its rescue file, of each run
        self._said: Counter[str] = Counter()  # lines that have been waited for

    def play(self) -> None:
        """To the end of the DAG: what the scene leaves open ends well."""
        happens = [what for step in self.scene.steps for what in step.happens]
        counts = [what for what in happens if " queues " in what]
        self._write([what.split() for what in counts])
        for what in counts:
            happen(self.stage, what)
        self._submit()
        self._on_engine("begin")
        for what in happens:
            if what not in ("begin", *counts):
                self._happen(what)
        if self.stage.phase is not Phase.ENDED:
            self._all_begun()
            self.rest_ends()
        while self.stage.phase is not Phase.ENDED:
            before = len(self.done)
            for subject in self._alive().values():
                self._on_engine(f"{subject} ends")
            self._on_engine("deadline")
            assert len(self.done) > before, "it waits for a person"
        self.pool.ends()
        self.pool.gone()

    def rest_ends(self) -> None:
        """What runs or will run on the pool ends well."""
        (self.pool.work / "end.all").touch()

    def _write(self, counts: list[list[str]]) -> None:
        text = _SCRIPT.sub(r"\1 told.sh \2 $NODE ", make.dag_file(self.scene.dag))
        more = [f'VARS {node} procs="{count}"' for node, _, count in counts]
        knobs = [f"{name} = {value}" for name, value in self.scene.settings.items()]
        more += ["CONFIG t.config"] if knobs else []
        files = {"told.sh": TOLD, "n.sub": SUBMIT, "t.config": "\n".join([*knobs, ""])}
        files["t.dag"] = "\n".join([text, *more, on_pool.STATUS])
        for name, content in files.items():
            (self.pool.work / name).write_text(content)
            (self.pool.work / name).chmod(0o755)

    def _submit(self) -> None:
        options = self.scene.options.items()
        words = [word for name, most in options for word in (f"-{name}", most) if word]
        self.pool.submit_again("-append", STAYS_AWAY, *words)

    def _happen(self, what: str) -> None:
        """On the pool, then on the engine."""
        self._all_begun()
        found = [(act, words) for kind, act in _WORDS if (words := kind.fullmatch(what))]
        assert found, f"this can't happen on a pool: {what}"
        act, words = found[0]
        act(self, *words.groups(""))
        self._on_engine(what)

    def _on_engine(self, what: str) -> None:
        done = happen(self.stage, what)
        if "write rescue" in done:
            self._rescued[-1] = self._marked()
        self.done += done

    def _alive(self) -> dict[str, str]:
        """Jobs and scripts that run, by the engine: their names here, and those of the scene."""
        run, names = self.stage.harness.engine.run, self.stage.harness.dag.names
        jobs = [job for job in self.stage.jobs.live if job not in self._held]
        found = {self._name(job): f"{job[0]}.{job[1]}" for job in jobs}
        for kind, state in (("PRE", State.PRE_RUN), ("POST", State.POST_RUN)):
            for node in run.nodes.in_state(state):
                found[f"{kind} {names[node]}"] = f"{kind} of {names[node]}"
        return found

    def _all_begun(self) -> None:
        """Wait for what runs, by the engine; nothing more may have begun."""
        for name in self._alive():
            self._begun(name)
        if self.scene.options and self.pool.flavour == OURS:
            self.pool.settled()
        due = self._ended + Counter(self._alive().keys())
        runs = self._runs().items()
        more = {name for name, count in runs if count > due[name] and name[:5] != "HOLD "}
        assert not more, f"{more} began, not by the engine"

    # What happens, on the pool.

    def nothing(self, *_: str) -> None:
        """Time passes by itself, and so on."""

    def ends(self, name: str, code: str) -> None:
        for job in self.stage.jobs.named(name):
            self._end(self._name(job), code)
            self._applied("JOB_TERMINATED", job)

    def script_ends(self, kind: str, node: str, code: str) -> None:
        """Of the end of a HOLD script, DAGMan says nothing."""
        self._begun(f"{kind} {node}")
        self._end(f"{kind} {node}", code)
        if kind != "HOLD":
            self._says(rf"{kind} Script of [nN]ode {node} (?:completed|failed|died)")

    def of_job(self, name: str, what: str) -> None:
        event, command = _OF_JOB[what]
        for job in self.stage.jobs.named(name):
            if command:
                self._command(command, job)
            self._applied(event, job)
            if what in ("is held", "is removed") and job not in self._held:
                self._ended[self._name(job)] += 1
            (self._held.add if what == "is held" else self._held.discard)(job)

    def _command(self, command: str, job: Job, *words: str) -> None:
        """One about a job, which may have left the queue."""
        cluster = self.pool.job(self.stage.jobs.owner(job))
        self.pool.answer(command, f"{cluster}.{job[1]}", *words)

    def condor_rm(self) -> None:
        self.pool.remove()
        self._says("Received SIGUSR1")

    def halt(self) -> None:
        self.pool.touch("t.dag.halt")
        self.pool.has(DAG_Status=DagStatus.HALTED)

    def resume(self) -> None:
        (self.pool.work / "t.dag.halt").unlink()
        halted = DagStatus.HALTED
        self.pool.until(lambda: self.pool.ad().get("DAG_Status") != halted, "a DAG that goes on")

    def restart(self) -> None:
        """Scripts are over; what it replays is said once more."""
        self._ended.update({name: 1 for name in self._alive() if _is_script(name)})
        self.pool.restart()
        for line in self._said:
            self._said[line] = len(re.findall(line, self.pool.out()))

    def steer(self, command: str, names: str) -> None:
        words = names.replace(" descendants", " --descendants").split()
        steer(self.pool, command, *words)

    def rescue_dag(self) -> None:
        self.pool.ends()
        self.pool.gone()
        self._rescued.append([])
        self._ended = self._runs()
        self._submit()

    def provisioner(self, state: str) -> None:
        dag = self.stage.harness.dag
        (node,) = (dag.names[n] for n, kind in enumerate(dag.kinds) if kind == NodeKind.PROVISIONER)
        (job,) = self.stage.jobs.named(node)
        self._applied("EXECUTE", job)
        self._command("condor_qedit", job, "ProvisionerState", state)
        self._says(rf"Provisioner job state: <{state}>")

    def _name(self, job: Job) -> str:
        return f"{self.stage.jobs.owner(job)} {job[1]}"

    def _runs(self) -> Counter[str]:
        lines = self.pool.text("ledger").splitlines()
        return Counter(" ".join(line.split(" ")[:2]) for line in lines)

    def _begun(self, name: str) -> None:
        self.pool.until(lambda: self._runs()[name] > self._ended[name], f"the begin of {name}")

    def _end(self, name: str, code: str) -> None:
        (self.pool.work / "end.new").write_text(code or "0")
        (self.pool.work / "end.new").rename(self.pool.work / f"end.{name.replace(' ', '.')}")
        self._ended[name] += 1

    def _applied(self, event: str, job: Job) -> None:
        """DAGMan has acted on an event."""
        node, proc = self.stage.jobs.owner(job), job[1]
        self._says(rf"Event: ULOG_{event} for HTCondor Node {node} \(\d+\.{proc}\.")

    def _says(self, line: str) -> None:
        self._said[line] += 1
        self.pool.says(line, self._said[line])

    # What comes out.

    def expected(self) -> dict[str, Any]:
        """By the engine."""
        last = [one[8:] for one in self.done if re.match("publish (?!limits|at once)", one)][-1]
        ran = (_RUN.fullmatch(one) for one in self.done)
        left = [make.of_job(EventKind.JOB_ABORTED, *job) for job in self.stage.jobs.live]
        return {
            "exit": int([one.split()[1] for one in self.done if one.startswith("exit ")][-1]),
            "lock": False,
            "states": _states(self._status_text(last)),
            "rescue": self._rescued[0],
            "scripts": sorted(" ".join(one.groups()) for one in ran if one),
            "events": _events([*self.stage.harness.log, *left]),
        }

    def _status_text(self, outcome: str) -> str:
        engine, dag = self.stage.harness.engine, self.stage.harness.dag
        how: dict[str, Any] = {"now_local": (1970, 1, 1, 0, 0, 0, 0), "final": True}
        text = node_status_text(
            dag, engine.report(), engine.node_reports(), now=0.0, outcome=outcome, **how
        )
        return "".join(text)

    def _marked(self) -> list[str]:
        reports = self.stage.harness.engine.node_reports()
        kinds = self.stage.harness.dag.kinds
        done = [one for one in reports if one.status == NodeStatus.DONE]
        return sorted(one.name for one in done if kinds[one.node] in ORDINARY_KINDS)

    def left(self) -> dict[str, Any]:
        """On the pool."""
        scripts = [one for one in self.pool.text("ledger").splitlines() if _is_script(one)]
        log = by_text((self.pool.work / "t.dag.nodes.log").read_bytes())
        rescued = (self.pool.work / "t.dag.rescue001").exists()
        return {
            "lock": (self.pool.work / "t.dag.lock").exists(),
            "exit": int(re.findall(r"EXITING WITH STATUS (-?\d+)", self.pool.out())[-1]) % 256,
            "states": _states(self.pool.text("t.status")),
            "rescue": sorted(self.pool.rescue()) if rescued else [],
            "scripts": sorted(scripts),
            "events": _events(log),
        }


def _is_script(name: str) -> bool:
    return name.startswith(("PRE ", "POST ", "HOLD "))


def _states(text: str) -> dict[str, Any]:
    """Status of each node at the end, by the node status file."""
    ads = (ad for ad in node_status_ads(text) if ad["Type"] == "NodeStatus")
    return {str(ad["Node"]): ad["NodeStatus"] for ad in ads}


def _events(log: Sequence[LogEvent]) -> dict[str, int]:
    """How often events of each node came; of ends, with their values.  Whether a job that has ended
    is removed as well is chance under stock."""
    owners = {one[1:4]: one.node for one in log if one.kind == EventKind.SUBMIT}
    ended = {one[1:4] for one in log if one.kind == EventKind.JOB_TERMINATED}
    found = Counter(
        f"{one.node or owners.get(one[1:4], '')} {EventKind(one.kind).name}"
        f" {one.value * (one.kind in _ENDS)}"
        for one in log
        if one.kind in _COMPARED and not (one.kind == EventKind.JOB_ABORTED and one[1:4] in ended)
    )
    return dict(sorted(found.items()))


_WORDS: list[tuple[re.Pattern[str], Callable[..., None]]] = [
    (re.compile(text), act)
    for text, act in (
        (r"begin|deadline|\+\S+ s", Player.nothing),
        (r"([A-Z]+) of (\w+)(?:\.0 hold \d+)? ends(?: (-?\d+))?", Player.script_ends),
        (r"([A-Za-z]\w*(?:\.\d+)?) ends(?: (-?\d+))?", Player.ends),
        (rf"([A-Za-z]\w*(?:\.\d+)?) ({'|'.join(_OF_JOB)})(?:: .*)?", Player.of_job),
        ("condor_rm", Player.condor_rm),
        ("halt|halt file", Player.halt),
        ("resume|no halt file", Player.resume),
        ("restart", Player.restart),
        ("rescue DAG", Player.rescue_dag),
        (r"(cancel|done|skip|rerun) (.+)", Player.steer),
        (r"provisioner says (\d+)", Player.provisioner),
    )
]

STAGE = on_pool.Stage()
MARKED = {re.sub(r"\W+", "_", one.name): one for one in scenes() if one.has("pool")}


def _played(scene: Scene) -> Callable[[on_pool.Scene], Any]:
    """The scene as a function for the stage; it is named by who has it."""

    def play(pool: on_pool.Scene) -> Any:
        player = Player(pool, scene)
        try:
            player.play()
            return player.left(), player.expected()
        finally:
            player.rest_ends()

    return play


for _name, _scene in MARKED.items():
    by = STAGE.scenes if _scene.has("pool without stock") else STAGE.pairs
    by[_name] = _played(_scene)


@pytest.mark.parametrize("name", MARKED, ids=list(MARKED))
def test_scene(played: Played, stock: Stock, name: str) -> None:
    left, expected = played.check(name)
    assert left == expected
    if name in STAGE.pairs:
        assert plain(left) == stock(name, lambda: played.check(name, STOCK)[0])
