"""Figures of the structure, each of which may only fall.

They say what a change of this program costs, and what a plain DAG pays for abilities that it does
not use.  A figure that has fallen is lowered here, in the same commit; `pytest -s` prints all.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Set
from contextlib import nullcontext
from pathlib import Path
from types import FrameType, FunctionType, SimpleNamespace
from typing import Any

import pytest
from pytest_mock import MockerFixture

from condor_pydagman import feature_table, transfer_file
from condor_pydagman.adapters import request_client
from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import lifecycle
from condor_pydagman.engine.feature import Feature
from condor_pydagman.engine.hooks import TABLES, Hooks
from condor_pydagman.feature_table import FEATURES, OF_CODE, OF_EVENT, RECORDS, part
from condor_pydagman.features.steering.clients import LocalClients
from condor_pydagman.follow.notice import CAUSES
from condor_pydagman.graph.model import Dag
from condor_pydagman.lint.findings import CODES
from condor_pydagman.monitor.found_dag import find_dag
from condor_pydagman.monitor.watched_dag import WatchedDag
from condor_pydagman.names import DagPaths
from condor_pydagman.vocabulary import CORE_EVENTS, CORE_RECORDS
from condor_pydagman.web.steering import Steering, read_request
from tests import locks
from tests.dag_logs import DagLogs
from tests.make import EngineHarness, terminated
from tests.test_style import imported_modules

PACKAGE = Path(__file__).resolve().parents[2] / "condor_pydagman"

# Of the terminate event of A that lets B be submitted, in the DAG "A, then B", in all of
# `Engine.handle`, as Python calls them; test_work_figures.py counts the calls.
EVENT = {"files": 13, "changes of file": 43}
# The same of a look of `condor_pydagman watch` at that DAG while it runs, twice a second: with
# nothing new in its logs, and with an event of A.
LOOK = {"files": 18, "changes of file": 34}
LOOK_AT_EVENT = {"calls": 234, "files": 37, "changes of file": 117}
# Of a command of the page for a node: from the page's JSON to what the engine has done, and back.
STEERING = {"calls": 104, "files": 20, "changes of file": 46}
# Of the transfer of a local file, from Python, after another one.
TRANSFER = {"files": 36}
MOST_PARAMETERS = 10
METHODS = PACKAGE / "workflow" / "methods.py"  # made; they have the options of lines

# Moments at which features have a say, and those of which one feature makes use.
MOMENTS = {"moments": 36, "with one user": 12}

# What features write or tell: rows that tables of the core have, or other modules of it name.
IN_CORE = {"records": 0, "events": 0, "causes": 0, "codes": 0}

# Modules of ours that the DAGMan of a plain DAG has loaded when it runs, and their lines.
LOADED = {"modules": 135, "lines": 32_218}

# Budgets: lines of Python in each folder of the package, of its modules outside of folders (""),
# and of all tests, scenes (tests/scenes/) and golden files (tests/readers/) included.  Who adds to
# a folder at its budget takes as many lines out in the same commit; who takes more than SLACK out
# lowers the budget.
SLACK = 50
LINES = {
    "": 1720,
    "adapters": 8448,
    "api": 2493,
    "cli": 5909,
    "config": 1038,
    "daemon": 5027,
    "dagman_job": 2144,
    "data_requests": 1745,
    "engine": 7961,
    "explain": 2150,
    "features": 30927,
    "follow": 4800,
    "graph": 4281,
    "language": 4038,
    "lint": 3970,
    "monitor": 3852,
    "picture": 3011,
    "placement": 13608,
    "pool": 1725,
    "records": 2965,
    "report": 2518,
    "transfer": 10,
    "web": 3047,
    "workflow": 2699,
}
LINES_OF_TESTS = 136_010
# Lines of the modules that a program may come to load, by imports in whatever place.
REACH = {
    "cli/submit_dag.py": 35_289,
    "cli/dagman.py": 35_087,
    "cli/dag_checker.py": 18_053,
    "cli/watch.py": 30_778,
    "placement/data_node.py": 21_914,
}
# Words of the names of features, in the modules that every DAG uses.
WORDS = {
    name
    for entry in FEATURES
    for part in (entry.name, *entry.name.split("_"))
    for name in (part, part.rstrip("s"), f"{part}s")
} - {"run", "runs", "if", "ifs", "limit", "limits", "shared", "shareds"}
NAMED = {
    "dispatch": 0,
    "engine": 0,
    "job_events": 0,
    "jobs": 0,
    "journal_events": 0,
    "lifecycle": 0,
    "event_matching": 0,
    "node_states": 0,
    "nodes": 0,
    "queues": 0,
    "reconcile": 0,
    "run_end": 0,
    "run_records": 0,
    "scripts": 0,
    "state": 0,
    "submission": 0,
    "views": 1,
}
# Folders of what every DAG uses beside the engine, and how often modules in them import a feature,
# or ask for one by its name.  Words such as `publish` and `timeout` have other meanings there.
FOLDERS = ("adapters", "daemon")
ASKED_FOR: dict[str, int] = {}


# Of tests whose figures hold in pure Python, and where a comprehension is a call.
COUNTED = pytest.mark.skipif(
    not str(lifecycle.__file__).endswith(".py") or sys.version_info >= (3, 12),
    reason="comprehensions, and compiled modules, make no calls that Python sees",
)


def test_what_a_terminate_event_passes_through() -> None:
    if not str(lifecycle.__file__).endswith(".py"):
        pytest.skip("compiled modules make no calls that Python sees")
    harness = EngineHarness("JOB A a.sub\nJOB B b.sub\nPARENT A CHILD B\n").begin()
    harness.take("A", 1)
    harness.engine.check = None
    ended = terminated(1)
    actions: list[do.Action] = []
    figures = _profiled(lambda: actions.extend(harness.engine.handle(ended, harness.now)))
    assert [one.node for one in actions if isinstance(one, do.SubmitNode)] == [1]
    _only_fall("terminate event", figures, EVENT)


@COUNTED
def test_what_a_look_at_a_dag_passes_through(tmp_path: Path) -> None:
    for directory in (tmp_path / "first", tmp_path / "next"):  # what is made once is there then
        still, news = _looks(directory)
    _only_fall("look with nothing new", still, LOOK)
    _only_fall("look at an event", news, LOOK_AT_EVENT)


def _looks(directory: Path) -> tuple[dict[str, int], dict[str, int]]:
    """Figures of looks at a DAG that runs: with nothing new, and with an event."""
    directory.mkdir()
    (directory / "t.dag").write_text("JOB A a.sub\nJOB B b.sub\nPARENT A CHILD B\n")
    logs = DagLogs(directory).start()
    with locks.held(directory / "t.dag.lock", "7\n"):
        dag = WatchedDag(find_dag(str(directory / "t.dag"), ask=False))
        logs.submit("A", 1)
        assert dag.look().counts["idle"] == 1
        still = _profiled(dag.look)
        logs.execute(1)
        news = _profiled(dag.look)
        assert dag.look().counts["running"] == 1
    return still, news


@COUNTED
def test_what_a_command_of_the_page_passes_through(mocker: MockerFixture) -> None:
    wires = [nullcontext(SteeredDag()) for _ in range(2)]  # what is made once, for the first
    mocker.patch.object(request_client, "_connected", side_effect=wires)
    mocker.patch.object(feature_table, "_guards", [])  # another test may have left one
    message = {"command": "hold", "nodes": {"names": ["A"]}}
    dag: Any = SimpleNamespace(paths=DagPaths("t.dag"))

    def steer() -> None:
        assert Steering().steer(dag, read_request(message)).done == 1

    steer()
    figures = _profiled(steer)
    _only_fall("command of the page", figures, STEERING)


class SteeredDag:
    """A DAG, its first node running, behind a connection without a socket: it answers when read."""

    uid = os.geteuid()

    def __init__(self, dag: Dag | str = "JOB A a.sub\nJOB B b.sub\nPARENT A CHILD B\n") -> None:
        self._harness = EngineHarness(dag).begin()
        self._harness.take(self._harness.dag.names[0], 1)
        self._harness.engine.check = None
        self._answers: list[bytes] = []
        socket: Any = SimpleNamespace(answer=lambda _, line: self._answers.append(line))
        run: Any = SimpleNamespace(
            config=Config(),
            paths=DagPaths("t.dag"),
            clock=SimpleNamespace(monotonic=lambda: 0.0),
            dag=self._harness.dag,
            engine=self._harness.engine,
        )
        self._clients = LocalClients(run, socket)

    def sendall(self, request: bytes) -> None:
        client: Any = self
        run: Any = self._harness
        for an_input in self._clients.taken([(client, request)]):
            for action in run.engine.handle(an_input, run.now):
                if isinstance(action, do.Steered):
                    self._clients.steered(action)

    def recv(self, _: int) -> bytes:
        return self._answers.pop()


@COUNTED
def test_what_the_transfer_of_a_local_file_takes(tmp_path: Path) -> None:
    source = tmp_path / "from"
    source.write_text("x")

    def transfer(name: str) -> None:
        (end,) = transfer_file(str(source), str(tmp_path / name), directory=str(tmp_path / "all"))
        assert end.done

    transfer("first")
    figures = _profiled(lambda: transfer("second"))
    _only_fall("transfer of a local file", {name: figures[name] for name in TRANSFER}, TRANSFER)


def test_the_longest_list_of_parameters() -> None:
    longest = max(
        len(function.args.args) + len(function.args.kwonlyargs)
        for path in PACKAGE.rglob("*.py")
        if path != METHODS
        for function in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(function, ast.FunctionDef)
    )
    _only_fall("parameters", {"parameters": longest}, {"parameters": MOST_PARAMETERS})


def test_features_that_modules_of_all_dags_name() -> None:
    figures = {name: _named_in(PACKAGE / "engine" / f"{name}.py") for name in NAMED}
    _only_fall("named features", figures, NAMED)


def test_features_that_are_asked_for_by_name() -> None:
    paths = [path for folder in FOLDERS for path in (PACKAGE / folder).glob("*.py")]
    found = {path.relative_to(PACKAGE).as_posix(): _asked_for_in(path) for path in paths}
    _only_fall("features asked for", found, {**dict.fromkeys(found, 0), **ASKED_FOR})


def test_moments_at_which_features_have_a_say() -> None:
    names = [name for name in Hooks.__slots__ if name not in (*TABLES, "own_holds")]
    methods = {name for name, one in vars(Feature).items() if isinstance(one, FunctionType)}
    assert methods - {"__init__"} == set(names)
    figures = {"moments": len(names), "with one user": sum(_users(one) == 1 for one in names)}
    _only_fall("moments", figures, MOMENTS)


def test_rows_of_features_in_tables_of_the_core() -> None:
    assert not CORE_RECORDS & RECORDS
    core = [*(PACKAGE / "engine").glob("*.py"), PACKAGE / "records" / "own_events.py"]
    records = sum(text in RECORDS for path in core for text in _texts(path))
    causes = {cause for one in FEATURES for more in one.causes.values() for cause in more}
    figures = {
        "records": records,
        "events": _misplaced(CORE_EVENTS, OF_EVENT.keys() - causes, "vocabulary.py"),
        "causes": _misplaced(CAUSES, causes, "follow/notice.py"),
        "codes": _misplaced(CODES, OF_CODE.keys(), "lint/findings.py"),
    }
    _only_fall("rows of features in the core", figures, IN_CORE)


def _misplaced(core: Iterable[str], of_features: Set[str], table: str) -> int:
    """How many rows of a table of the core no module of the core uses, and how many of features
    one does."""
    tables = (PACKAGE / table, PACKAGE / "feature_table.py")
    paths = [one for one in PACKAGE.rglob("*.py") if "features" not in one.parts]
    used = {text for path in paths if path not in tables for text in _texts(path)}
    return len({*core} - used) + len(of_features & used)


def test_features_that_modules_outside_import() -> None:
    paths = [path for path in PACKAGE.rglob("*.py") if "features" not in path.parts]
    found = {path.relative_to(PACKAGE).as_posix(): _imported_in(path) for path in paths}
    _only_fall("imports of features", found, dict.fromkeys(found, 0))


def test_modules_that_a_plain_dag_loads() -> None:
    code = (
        "import sys; from condor_pydagman.cli import dagman;"
        " from condor_pydagman.daemon import loop, initialize, startup, sources;"
        " from condor_pydagman.adapters import inotify;"  # what a run imports before it begins
        " from condor_pydagman.features.common import together;"
        " from condor_pydagman.features.steering import sockets;"
        " print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = [name for name in done.stdout.split() if name.startswith("condor_pydagman")]
    lines = sum(_lines(_path(name)) for name in loaded)
    _only_fall("loaded modules", {"modules": len(loaded)}, {"modules": LOADED["modules"]})
    _only_fall("loaded lines", {"lines": lines}, {"lines": LOADED["lines"]}, SLACK)


def test_lines_of_each_folder() -> None:
    figures: Counter[str] = Counter()
    for path in PACKAGE.rglob("*.py"):
        folder = path.relative_to(PACKAGE).parts[0]
        figures[folder if folder != path.name else ""] += _lines(path)
    _only_fall("lines", figures, {**dict.fromkeys(figures, 0), **LINES}, SLACK)
    found = (PACKAGE.parent / "tests").rglob("*")
    tests = sum(_lines(path) for path in found if path.suffix in (".py", ".scene", ".golden"))
    _only_fall("tests", {"lines": tests}, {"lines": LINES_OF_TESTS}, SLACK)


def _path(module: str) -> Path:
    """The file of a module of ours, by the module's full name."""
    path = PACKAGE.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _lines(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())


def _texts(path: Path) -> set[str]:
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    found = (node.value for node in nodes if isinstance(node, ast.Constant))
    return {text for text in found if isinstance(text, str)}


def _users(moment: str) -> int:
    """How many features have a method for it."""
    modules = [part(entry.name, "run") for entry in FEATURES if entry.runs]
    made = [one for module in modules for one in vars(module).values() if isinstance(one, type)]
    kinds = {one for one in made if issubclass(one, Feature) and one.name}
    return sum(getattr(kind, moment) is not getattr(Feature, moment) for kind in kinds)


def test_what_each_program_reaches() -> None:
    figures = {name: sum(map(_lines, _reached(PACKAGE / name))) for name in REACH}
    _only_fall("lines reached", figures, REACH, SLACK)


def _reached(program: Path) -> set[Path]:
    """The modules of ours that a program or one of them imports, itself included."""
    found, new = set[Path](), {program}
    while new:
        found |= new
        new = {_path(name) for path in new for name in imported_modules(path)} - found
    return found


def _named_in(path: Path) -> int:
    """How often the code of a module, without its docstrings and comments, names a feature."""
    names = [
        getattr(node, "id", "") or getattr(node, "attr", "") or getattr(node, "arg", "") or ""
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
    ]
    return sum(not WORDS.isdisjoint((name, *name.split("_"))) for name in names)


def _asked_for_in(path: Path) -> int:
    """How often a module imports a module of a feature, or has the name of a feature as a text."""
    names = {entry.name for entry in FEATURES}
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    texts = [node.value for node in nodes if isinstance(node, ast.Constant)]
    modules = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return sum(isinstance(text, str) and text in names for text in texts) + sum(
        module.startswith(f"condor_pydagman.features.{name}")
        for module in modules
        for name in names
    )


def _imported_in(path: Path) -> int:
    """How often a module imports modules of a feature, or has a feature's name beside `part`."""
    names = {entry.name for entry in FEATURES}
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    modules = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    modules += [one.name for node in nodes if isinstance(node, ast.Import) for one in node.names]
    texts = [node.value for node in nodes if isinstance(node, ast.Constant)]
    modules += [f"condor_pydagman.{text}" for text in texts if isinstance(text, str)]
    asked = [
        node.args[0].value
        for node in nodes
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("part", "feature_table.part")
        and isinstance(node.args[0], ast.Constant)
    ]
    return len(names.intersection(asked)) + sum(
        module.startswith(f"condor_pydagman.features.{name}")
        for module in modules
        for name in names
    )


def _profiled(act: Callable[[], Any]) -> dict[str, int]:
    """Files of the package whose functions are called, and how often one of them calls another file
    or returns to it."""
    path: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(PACKAGE)):
            path.append(frame.f_code.co_filename)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    changes = sum(one != other for one, other in zip(path, path[1:]))
    return {"files": len(set(path)), "changes of file": changes}


def _only_fall(
    what: str, found: Mapping[str, int], most: Mapping[str, int], slack: int = 0
) -> None:
    print(f"{what}: {dict(found)}")
    grown = {name: value for name, value in found.items() if value > most[name]}
    assert not grown, f"more than {dict(most)}: the change belongs into a room of its own"
    fallen = {name: value for name, value in found.items() if value < most[name] - slack}
    assert not fallen, f"lower the figures of this test to {dict(found)}"
