"""Figures of the structure, each of which may only fall.

They say what a change of this program costs, and what a plain DAG pays for abilities that it does
not use.  A figure that has fallen is lowered here, in the same commit; `pytest -s` prints all.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any

import pytest

from condor_pydagman import features
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import lifecycle
from condor_pydagman.engine.feature import TABLES, Feature
from condor_pydagman.engine.hooks import Hooks
from condor_pydagman.vocabulary import CORE_RECORDS, DAG_EVENTS
from tests.make import EngineHarness, terminated

PACKAGE = Path(__file__).resolve().parents[2] / "condor_pydagman"

# Of the terminate event of A that lets B be submitted, in the DAG "A, then B", in all of
# `Engine.handle`, as Python calls them.
EVENT = {"calls": 68, "files": 13, "changes of file": 43}
MOST_PARAMETERS = 10
METHODS = PACKAGE / "workflow" / "methods.py"  # made; they have the options of lines

# Moments at which features have a say, and those of which one feature makes use.
MOMENTS = {"moments": 39, "with one user": 10}

# What features write or tell, in tables of the core.
IN_CORE = {"records": 1, "events": 20}

# Modules of ours that the DAGMan of a plain DAG has loaded when it runs.
LOADED = 136
# Names of features, in the modules that every DAG uses.
FEATURES = {
    name
    for entry in features.FEATURES
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
    "validate": 0,
    "views": 1,
}
# Folders of what every DAG uses beside the engine, and how often modules in them import a feature,
# or ask for one by its name.  Words such as `publish` and `timeout` have other meanings there.
FOLDERS = ("adapters", "daemon")
ASKED_FOR = {"daemon/loop.py": 1}


def test_what_a_terminate_event_passes_through() -> None:
    if not str(lifecycle.__file__).endswith(".py"):
        pytest.skip("compiled modules make no calls that Python sees")
    harness = EngineHarness("JOB A a.sub\nJOB B b.sub\nPARENT A CHILD B\n").begin()
    harness.take("A", 1)
    harness.engine.check = False
    ended = terminated(1)
    actions: list[do.Action] = []
    figures = _profiled(lambda: actions.extend(harness.engine.handle(ended, harness.now)))
    assert [one.node for one in actions if isinstance(one, do.SubmitNode)] == [1]
    _only_fall("terminate event", figures, EVENT)


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
    names = [name for name in Hooks.__slots__ if name not in TABLES]
    methods = {name for name, one in vars(Feature).items() if isinstance(one, FunctionType)}
    assert methods - {"__init__"} == set(names)
    figures = {"moments": len(names), "with one user": sum(_users(one) == 1 for one in names)}
    _only_fall("moments", figures, MOMENTS)


def test_rows_of_features_in_tables_of_the_core() -> None:
    assert not CORE_RECORDS & features.RECORDS
    texts = {text for path in (PACKAGE / "features").rglob("*.py") for text in _texts(path)}
    core = [*(PACKAGE / "engine").glob("*.py"), PACKAGE / "records" / "own_events.py"]
    records = sum(text in features.RECORDS for path in core for text in _texts(path))
    figures = {"records": records, "events": len(texts & DAG_EVENTS.keys())}
    _only_fall("rows of features in the core", figures, IN_CORE)


def test_modules_that_a_plain_dag_loads() -> None:
    code = (
        "import sys; from condor_pydagman.cli import dagman;"
        " from condor_pydagman.daemon import loop, initialize, startup, sources;"
        " print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = [name for name in done.stdout.split() if name.startswith("condor_pydagman")]
    _only_fall("modules", {"loaded": len(loaded)}, {"loaded": LOADED})


def _texts(path: Path) -> set[str]:
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    found = (node.value for node in nodes if isinstance(node, ast.Constant))
    return {text for text in found if isinstance(text, str)}


def _users(moment: str) -> int:
    """How many features have a method for it."""
    modules = [features.part(entry.name, "run") for entry in features.FEATURES if entry.runs]
    made = [one for module in modules for one in vars(module).values() if isinstance(one, type)]
    kinds = {one for one in made if issubclass(one, Feature) and one.name}
    return sum(getattr(kind, moment) is not getattr(Feature, moment) for kind in kinds)


def _named_in(path: Path) -> int:
    """How often the code of a module, without its docstrings and comments, names a feature."""
    names = [
        getattr(node, "id", "") or getattr(node, "attr", "") or getattr(node, "arg", "") or ""
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
    ]
    return sum(not FEATURES.isdisjoint((name, *name.split("_"))) for name in names)


def _asked_for_in(path: Path) -> int:
    """How often a module imports a module of a feature, or has the name of a feature as a text."""
    names = {entry.name for entry in features.FEATURES}
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    texts = [node.value for node in nodes if isinstance(node, ast.Constant)]
    modules = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return sum(isinstance(text, str) and text in names for text in texts) + sum(
        module.startswith("condor_pydagman.features.") for module in modules
    )


def _profiled(act: Callable[[], Any]) -> dict[str, int]:
    """Calls of the package's functions, files that they are in, and how often one calls another
    file or returns to it."""
    path: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(PACKAGE)):
            path.append(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
    changes = sum(one != other for one, other in zip(path, path[1:]))
    return {"calls": len(path), "files": len(set(path)), "changes of file": changes}


def _only_fall(what: str, found: dict[str, int], most: dict[str, int]) -> None:
    print(f"{what}: {found}")
    grown = {name: value for name, value in found.items() if value > most[name]}
    assert not grown, f"more than {most}: the change belongs into a room of its own"
    fallen = {name: value for name, value in found.items() if value < most[name]}
    assert not fallen, f"lower the figures of this test to {found}"
