"""Figures of work: what ten fixed cases call and allocate, of which neither may rise.

Times differ from machine to machine (`benchmarks/` has them); these figures hardly do:
- calls: of the package's functions.  Comprehensions are left out: Python 3.12 calls none.
- bytes: all that Python allocates, freed or not: at each call of a Python function, and each return
  from one, what memory has grown by since the last one, at most.  So a copy that nobody keeps
  counts too, which neither `sys.getallocatedblocks` nor the peak of the whole case shows.

All cases run in one fresh process, in an environment of its own: nothing depends on other tests.
Each acts on other data first, so that what is made once is there.  `pytest -s` prints all figures.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType, SimpleNamespace
from typing import Any
from unittest import mock

import pytest

from condor_pydagman import transfer_file
from condor_pydagman.adapters import request_client
from condor_pydagman.adapters.outlog import OutLog
from condor_pydagman.adapters.schedd import ScheddAdapter
from condor_pydagman.adapters.schedd_process import obey
from condor_pydagman.adapters.schedd_requests import Checks, Submit
from condor_pydagman.cli import report_command
from condor_pydagman.config import Config
from condor_pydagman.daemon.dag_input import load as load_dag
from condor_pydagman.daemon.loop import Loop, Sources
from condor_pydagman.daemon.submit import Submitter
from condor_pydagman.dagman_job.options import DagmanOptions
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs, lifecycle
from condor_pydagman.engine.node_states import State
from condor_pydagman.errors import PydagmanError
from condor_pydagman.features.bundle.helper import BundleHelper
from condor_pydagman.features.bundle.messages import SlotsSeen, SlotsWanted
from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.graph.model import Dag
from condor_pydagman.lint import description_reader
from condor_pydagman.lint.lint import lint
from condor_pydagman.lint.lint_world import DiskWorld
from condor_pydagman.monitor.found_dag import find_dag
from condor_pydagman.monitor.watched_dag import WatchedDag
from condor_pydagman.names import DagPaths
from condor_pydagman.records import rescue
from condor_pydagman.records.event_text import CommonEvents
from condor_pydagman.records.job_description import Workflow
from condor_pydagman.vocabulary import EventKind
from condor_pydagman.web import dag_answers, picture_boxes
from condor_pydagman.web.dag_reader import DagReader
from condor_pydagman.web.node_rows import NodeRows
from condor_pydagman.web.picture_boxes import PictureBoxes
from condor_pydagman.web.steering import Steering, read_request
from condor_pydagman.web.tables import Wanted
from tests import locks, make
from tests.dag_logs import BEGIN, DagLogs
from tests.features.bundle.bundled import bundle_submit
from tests.unit.daemon import starts
from tests.unit.test_structure_figures import SteeredDag

VERSION = (3, 11, 7)  # of Python, for which the figures hold exactly
ELSEWHERE = 0.05  # by which they may differ with others
SLACK = 0.01  # of a figure, by which it may fall unseen
# Of bytes, by which they differ from run to run: numbers of inodes take 28 or 32, addresses decide
# the order in sets; in a transfer, threads take turns.
NOISE = {"bytes": 0.0006, "bytes of transfer": 0.01}
FIGURES = {
    "load": {"calls": 1623, "bytes": 2374026},
    "event": {"calls": 84, "bytes": 43704},
    "refresh": {"calls": 299, "bytes": 4412008},
    "submit": {"calls": 9566, "bytes": 6401197},
    "recover": {"calls": 37832, "bytes": 14884182},
    "transfer": {"calls": 437, "bytes": 308643},
    "bundle": {"calls": 58610, "bytes": 29138052},
    "report": {"calls": 81961, "bytes": 36604023},
    "lint": {"calls": 60731, "bytes": 164143035},
    "page": {"calls": 32843, "bytes": 77041894},
}

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = str(ROOT / "condor_pydagman")
ENVIRONMENT = {
    "CONDOR_CONFIG": "ONLY_ENV",
    "LANG": "C.UTF-8",
    "PATH": "/usr/bin:/bin",
    "PYTHONHASHSEED": "0",
    "PYTHONPATH": str(ROOT),
    "TZ": "UTC",
}
Act = Callable[[], object]
CLOCK: Any = SimpleNamespace(monotonic=lambda: 0.0, time=lambda: BEGIN)

# Five layers of 50 nodes, and a splice of 50 nodes behind the last of them.
LAYER = 50
OUTER = [f"n{number:03}" for number in range(5 * LAYER)]
INNER = [f"m{number:02}" for number in range(LAYER)]
NAMES = [*OUTER, *(f"s+{name}" for name in INNER)]
SUBMIT = "executable = /bin/true\narguments = $(x) $(JOB)\nqueue\n"
FILES = {
    "n.sub": SUBMIT,
    "s.dag": "".join(f'JOB {name} n.sub\nVARS {name} x="{name}"\n' for name in INNER),
    "t.dag": "".join(
        (
            *(f'JOB {name} n.sub\nVARS {name} x="{name}" y="of $(x)"\n' for name in OUTER),
            *(f"PARENT {one} CHILD {other}\n" for one, other in zip(OUTER, OUTER[LAYER:])),
            f"SPLICE s s.dag\nPARENT {OUTER[-1]} CHILD s\nRETRY ALL_NODES 2\n",
        )
    ),
}
BAG = "".join(f'JOB b{number} n.sub\nVARS b{number} x="{number}"\n' for number in range(2 * LAYER))


# Each case makes what it needs in a directory, the current one, and returns what is counted.


def load(place: Path) -> Act:
    """A DAG from its files, as at DAGMan's start."""
    options, out = DagmanOptions(dag_files=("t.dag",)), OutLog("t.dag.dagman.out")
    return lambda: load_dag(options, Config(), rescue.Selection(), out)


def event(place: Path) -> Act:
    """The engine hears that a job runs and ends, and has its child submitted."""
    harness = make.EngineHarness(_dag())
    harness.engine.check = None
    harness.begin()
    for node, name in enumerate(NAMES[:LAYER]):
        harness.tell(inputs.Submitted(node, node + 1, 1), make.submit(name, node + 1))
    told = (make.of_job(EventKind.EXECUTE, 1), make.terminated(1))

    def act() -> None:
        actions = [action for one in told for action in harness.engine.handle(one, 1000.0)]
        assert [one.node for one in actions if isinstance(one, do.SubmitNode)] == [LAYER]

    return act


def refresh(place: Path) -> Act:
    """Two looks of `condor_pydagman watch`, without news and with one event."""
    logs = _started(place, ended=len(NAMES) - 1)
    dag = WatchedDag(find_dag("t.dag", ask=False))
    logs.submit(NAMES[-1], len(NAMES))
    assert dag.look().counts["idle"] == 1

    def act() -> None:
        assert dag.look().counts["idle"] == 1
        logs.execute(len(NAMES))
        assert dag.look().counts["running"] == 1

    return act


def submit(place: Path) -> Act:
    """The first layer, from the engine's wish to what is given to the bindings, and the answer."""
    dag, adapter = _dag(), _adapter()
    run: Any = SimpleNamespace(
        dag=dag,
        out=SimpleNamespace(flush=lambda: None, say=lambda text, level: None),
        extras=None,
        placements=None,
        config=make.QUIET,
        schedd=SimpleNamespace(ask=lambda request, then: then(obey(adapter, request))),
        clock=CLOCK,
        by_condor_submit=False,
        workflow=Workflow(7, "/run/./t.dag.nodes.log", make.QUIET),
    )
    submitter, engine = Submitter(run), make.EngineHarness(dag).engine
    engine.check = None

    def act() -> None:
        todo: list[Any] = engine.handle(inputs.Begin(False), 1000.0)
        told: list[inputs.Input] = []
        for action in todo:
            if isinstance(action, (do.SubmitNode, do.SubmitTogether)):
                submitter.submit(action, told.extend)
                todo += [more for one in told for more in engine.handle(one, 1000.0)]
                told.clear()
        states = engine.run.nodes.states
        assert all(states[node] == State.SUBMITTED for node in range(LAYER))

    return act


def recover(place: Path) -> Act:
    """All nodes' events are replayed, until the log is caught up with."""
    with pytest.MonkeyPatch.context() as patch:
        start = starts.Place(patch, place, starts.Schedd({}))
        start.dag(FILES["t.dag"])
        start.set_job_id(7)
        _logs(place, ended=len(NAMES) - 1)
        run = start.prepare("-DoRecov")
        control: Any = SimpleNamespace(answer=None, input_handled=lambda one: None)
        other: Any = SimpleNamespace(fileno=lambda: -1)
        run.clock = CLOCK
        loop = Loop(run, Sources(other, other, other, other, control))
    os.chdir(place)
    loop._feed(inputs.Begin(True))

    def act() -> None:
        loop._replay()
        states = run.engine.run.nodes.states
        assert len(states) - states.count(State.DONE) == 1

    return act


def transfer(place: Path) -> Act:
    """A local file, from Python."""

    def act() -> None:
        (end,) = transfer_file("n.sub", str(place / "to"), directory=str(place / "all"))
        assert end.done

    return act


def bundle(place: Path) -> Act:
    """100 short nodes are packed and submitted, and their results are read."""
    dag = make.dag(f"{BAG}BUNDLE b SIZE {LAYER} ALL_NODES\n")
    run: Any = SimpleNamespace(
        dag=dag,
        process=SimpleNamespace(directory=str(place)),
        paths=DagPaths("t.dag"),
        workflow=Workflow(7, str(place / "log"), make.QUIET),
        stamps=(False, False, False),
    )
    harness, schedd = make.EngineHarness(dag, make.QUIET), _adapter()
    harness.engine.check = None
    world = BundleWorld(harness, BundleHelper(run), schedd, place)
    return world.run


class BundleWorld:
    """What answers the engine of a DAG with bundles; jobs end at once, and well."""

    def __init__(self, harness: Any, helper: BundleHelper, schedd: Any, place: Path) -> None:
        self.harness, self.helper, self.schedd, self.place = harness, helper, schedd, place
        harness.engine.run.features["bundle"].on_slots(SlotsSeen(8))

    def run(self) -> None:
        self.harness.begin()
        todo = self.harness.last
        while todo:
            todo = self.harness.tell(*(one for action in todo for one in self.answers(action)))
        assert set(self.harness.engine.run.nodes.states) == {State.DONE}

    def answers(self, action: Any) -> list[Any]:
        if isinstance(action, do.SubmitJob):
            return self.job(action)
        if isinstance(action, do.Ask):
            if isinstance(action.request, SlotsWanted):
                return [inputs.Answered(action.helper, SlotsSeen(8))]
            orders = self.helper.orders(action.request)
            return [inputs.Answered(action.helper, self.helper.serve(one)) for one in orders]
        if isinstance(action, do.AppendEvents):
            return CommonEvents(lambda stamp: 0.0).read(action.text.encode(), 0, 10**6)[0]
        echoed: list[Any] = self.harness.echo([action])
        return echoed

    def job(self, action: do.SubmitJob) -> list[Any]:
        """The job of a bundle is taken, runs, and leaves results."""
        taken = obey(self.schedd, Submit(action, action.text, "", Checks())).outcome
        home = self.place / DagPaths("t.dag").bundles / str(action.number)
        count = len((home / "tasks").read_text().splitlines()) - 1
        ends = (
            {"ended": n, "code": 0, "time": BEGIN + 2, "begun": BEGIN} for n in range(1, count + 1)
        )
        (home / "results").write_text("".join(json.dumps(one) + "\n" for one in ends))
        return [
            inputs.Answered(action.asker, inputs.JobSubmitted(action.number, taken.cluster)),
            bundle_submit(action.number, taken.cluster),
            make.of_job(EventKind.EXECUTE, taken.cluster),
            make.terminated(taken.cluster),
        ]


def report(place: Path) -> Act:
    """The page of a DAG that has run, without its picture, whose places Graphviz finds."""
    _logs(place, ended=len(NAMES)).end()

    def act() -> None:
        told = report_command.told_of(find_dag("t.dag", ask=False))
        assert NAMES[-1] in "".join(report_command.page(told, time.time(), with_picture=False))

    return act


def check(place: Path) -> Act:
    """What `condor_dag_checker -lint` finds."""

    def act() -> None:
        found = lint(["t.dag"], DirectWorld(), BuildOptions()).kept
        assert any("$(y) is set" in finding.message for finding in found)

    return act


class DirectWorld(DiskWorld):
    """Reads descriptions in this process."""

    def _asked(self, function: str, source: str, shape: Any, *arguments: Any) -> Any:
        return getattr(description_reader, function)(*arguments)


def page(place: Path) -> Act:
    """What a browser shows at first, and of a node; then it has the node held."""
    _started(place, ended=2 * LAYER).submit(NAMES[2 * LAYER], 1000)
    reader = DagReader(find_dag("t.dag", ask=False), lambda cluster: {})
    steered: Any = SimpleNamespace(paths=DagPaths("t.dag"))
    message = {"command": "hold", "nodes": {"names": [NAMES[0]]}}

    def act() -> None:
        seen = reader.look()
        assert reader.dag is not None
        boxes = PictureBoxes(reader.dag)
        shown = (
            seen.overview,
            NodeRows(reader).page(Wanted()),
            boxes.picture((), bytes(reader.states), 1),
            dag_answers.timeline_of(reader, None, None, 100),
            dag_answers.details_of(reader, 2 * LAYER, "running"),
        )
        assert NAMES[0] in str(json.dumps(shown))
        assert Steering().steer(steered, read_request(message)).done == 1

    return act


CASES: dict[str, Callable[[Path], Act]] = {
    "load": load,
    "event": event,
    "refresh": refresh,
    "submit": submit,
    "recover": recover,
    "transfer": transfer,
    "bundle": bundle,
    "report": report,
    "lint": check,
    "page": page,
}


def _dag() -> Dag:
    return build(["t.dag"], lambda path: iter([FILES[path]]), BuildOptions())


def _adapter() -> ScheddAdapter:
    """With a schedd that takes all that it is given."""
    clusters = iter(range(1, len(NAMES)))

    def take(lines: Any, **how: bool) -> Any:
        procs, cluster = len(lines.items()) and 1, next(clusters)
        return SimpleNamespace(cluster=lambda: cluster, num_procs=lambda: procs)

    adapter = ScheddAdapter(7)
    adapter._schedd = SimpleNamespace(submit=take)
    return adapter


def _logs(place: Path, ended: int) -> DagLogs:
    """Logs of a run in which so many nodes have ended."""
    logs = DagLogs(place).start()
    out, log = _run_so_far(ended)
    logs.out.write_text(out)
    logs.log.write_text(log)
    logs.now += ended
    return logs


@cache
def _run_so_far(ended: int) -> tuple[str, str]:
    with TemporaryDirectory() as place:
        logs = DagLogs(Path(place)).start()
        for cluster, name in enumerate(NAMES[:ended], 1):
            logs.submit(name, cluster)
            logs.execute(cluster)
            logs.terminate(cluster)
            logs.now += 1
        return logs.out.read_text(), logs.log.read_text()


def _started(place: Path, ended: int) -> DagLogs:
    """As `_logs`, and DAGMan is there."""
    HOLDERS.enter_context(locks.held(place / "t.dag.lock", "7\n"))
    return _logs(place, ended)


HOLDERS = ExitStack()


def _counted(act: Act) -> dict[str, int]:
    calls = allocated = before = 0
    traced, anew = tracemalloc.get_traced_memory, tracemalloc.reset_peak

    def note(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls, allocated, before
        if event not in ("call", "return"):  # of what is written in C: a third of the time
            return
        now, peak = traced()
        anew()
        allocated += peak - before
        before = now
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE):
            calls += code.co_name not in COMPREHENSIONS

    gc.collect()
    gc.disable()
    tracemalloc.start()
    before = traced()[0]
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        tracemalloc.stop()
        gc.enable()
    return {"calls": calls, "bytes": allocated}


COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>")


def _figures(case: Callable[[Path], Act], directory: Path) -> dict[str, int]:
    """Of the second of two runs, each in a directory of its own."""
    found: dict[str, int] = {}
    for name in ("first", "again"):
        place = directory / name
        place.mkdir(parents=True)
        os.chdir(place)
        for file, text in FILES.items():
            (place / file).write_text(text)
        act = case(place)
        found = _counted(act) if name == "again" else (act(), found)[1]
    return found


def main() -> None:
    """Print the figures of all cases, as JSON."""
    wires = [nullcontext(SteeredDag(_dag())) for _ in range(2)]
    patches = (
        mock.patch.object(time, "time", lambda: BEGIN + 2 * len(NAMES)),
        mock.patch.object(request_client, "_connected", side_effect=wires),
        mock.patch.object(picture_boxes, "find_dot", side_effect=PydagmanError("not here")),
    )
    with TemporaryDirectory(prefix="work-", dir="/var/tmp") as made, HOLDERS:
        for patch in patches:
            HOLDERS.enter_context(patch)
        print(json.dumps({name: _figures(one, Path(made, name)) for name, one in CASES.items()}))


@pytest.mark.skipif(
    not str(lifecycle.__file__).endswith(".py"),
    reason="compiled modules make no calls that Python sees",
)
def test_the_work_of_ten_cases() -> None:
    argv = [sys.executable, "-m", __name__]
    done = subprocess.run(argv, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    print(f"FIGURES = {found}")
    wanted = {
        f"{name} of {case}": most for case, one in FIGURES.items() for name, most in one.items()
    }
    figures = {f"{name} of {case}": now for case, one in found.items() for name, now in one.items()}
    assert figures.keys() == wanted.keys()
    elsewhere = 0.0 if sys.version_info[:3] == VERSION else ELSEWHERE
    grown = {
        name: f"{figures[name] - most:+,}"
        for name, most in wanted.items()
        if figures[name] > most * (1 + max(elsewhere, _noise(name)))
    }
    assert not grown, "more work than before: leave it out, or find what does as much less"
    fallen = [name for name, most in wanted.items() if figures[name] < most * (1 - SLACK)]
    assert elsewhere or not fallen, "lower FIGURES to what is printed above"


def _noise(name: str) -> float:
    return NOISE.get(name, NOISE.get(name.partition(" ")[0], 0.0))


if __name__ == "__main__":
    main()
