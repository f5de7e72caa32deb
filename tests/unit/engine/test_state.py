"""Who may write what of a run's state, held over the source of the engine; questions of RunState.

An attribute is written (assigned, or changed in place if it is a container) only in the module that
defines its class, or, where the class's docstring says "Written by `module` alone", only there.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from condor_pydagman import engine
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.vocabulary import DagStatus, ScriptKind
from tests import make

SOURCES = {
    path.stem: ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted(Path(engine.__file__).parent.glob("*.py"))
}
OWNER = re.compile(r"[Ww]ritten by\s+`(\w+)`\s+alone")
CHANGES_IN_PLACE = re.compile(
    "add|append|appendleft|clear|discard|extend|insert|pop|popitem|popleft|remove|setdefault|update"
)
SET_FOR_EACH_INPUT = ("now", "out")  # of RunState, by Engine.handle
CONTAINERS = frozenset(("deque", "set", "bytearray", "array", "dict", "fromkeys"))


class Write(NamedTuple):
    """Something in the engine's source that changes an attribute."""

    module: str
    line: int
    attribute: str


def _is_container(value: ast.expr | None) -> bool:
    if isinstance(value, (ast.Dict, ast.List, ast.Set, ast.DictComp, ast.ListComp)):
        return True
    if not isinstance(value, ast.Call):
        return False
    name = getattr(value.func, "attr", getattr(value.func, "id", ""))
    return name in CONTAINERS


def _fields(cls: ast.ClassDef) -> Iterator[tuple[str, bool]]:
    """The attributes that a class gives itself, and whether they are containers."""
    for node in ast.walk(cls):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if not isinstance(node, (ast.Assign, ast.AnnAssign)):
            continue
        for target in targets:
            if isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self":
                yield target.attr, _is_container(node.value)


def owners() -> tuple[dict[str, set[str]], set[str]]:
    """The modules that may write each attribute, and which attributes are containers."""
    may = {name: {"engine"} for name in SET_FOR_EACH_INPUT}
    containers = set()
    for module, tree in SOURCES.items():
        for cls in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
            named = OWNER.search(ast.get_docstring(cls) or "")
            for name, container in _fields(cls):
                may.setdefault(name, set()).update((module, *(named.groups() if named else ())))
                if container:
                    containers.add(name)
    return may, containers


def writes(module: str, tree: ast.Module, containers: set[str]) -> Iterator[Write]:
    """All that changes an attribute of an object: `x.a = 1`, `del x.a[k]`, `x.a.append(v)` ..."""
    for node in ast.walk(tree):
        place = None
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, (ast.Store, ast.Del)):
            place = node
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, (ast.Store, ast.Del)):
            place = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            changes = CHANGES_IN_PLACE.fullmatch(node.func.attr)
            place = node.func.value if changes else None
            if getattr(place, "attr", "") not in containers:
                continue  # a method of a data structure, which changes itself
        if isinstance(place, ast.Attribute):
            yield Write(module, place.lineno, place.attr)


def test_an_attribute_is_written_by_its_class_or_by_the_module_that_it_names() -> None:
    may, containers = owners()
    for module, tree in SOURCES.items():
        for write in writes(module, tree, containers):
            allowed = may.get(write.attribute, set())
            assert module in allowed, (
                f"{module}.py:{write.line} writes `{write.attribute}`, which is {allowed}'s:"
                " call a function of that module, or a method of the class"
            )


def test_who_may_write_is_read_from_the_docstrings() -> None:
    may, containers = owners()
    assert may["drained_at"] == {"run_records", "operator"}
    assert may["in_flight"] == {"run_records", "submission"}
    assert may["states"] == {"nodes"}
    assert {"errors", "states", "counts", "extra_retries", "unmatched_events"} <= containers


@pytest.mark.parametrize(
    "code",
    ["x.a = 1", "x.a += 1", "del x.a", "x.a[1] = 2", "del x.a[1]", "x.a.clear()", "x.y.a.add(1)"],
)
def test_a_change_of_an_attribute_is_found(code: str) -> None:
    assert [write.attribute for write in writes("m", ast.parse(code), {"a"})] == ["a"]


def test_a_halt_hides_the_status_until_the_run_is_ended() -> None:
    run = make.EngineHarness("A").engine.run
    run.halt.by_command = True
    assert run.halted
    assert run.shown_status is DagStatus.HALTED
    assert run.status is DagStatus.OK


def test_a_paused_dag_is_frozen_but_for_the_final_node() -> None:
    run = make.EngineHarness("A").begin().engine.run
    run.halt.paused = True
    assert run.frozen
    assert run.starts_nothing
    run.enter(Phase.FINISHING)
    assert not run.frozen
    assert not run.starts_nothing


def test_an_old_log_is_believed_about_when_an_event_happened() -> None:
    harness = make.EngineHarness("A").begin(recovering=True)
    assert harness.engine.run.happened(harness.now - 7) == harness.now - 7
    assert harness.engine.run.happened(harness.now + 7) == harness.now
    live = make.EngineHarness("A").begin()
    assert live.engine.run.happened(live.now - 7) == live.now


@pytest.mark.parametrize("kind", list(ScriptKind))
def test_without_a_limit_any_number_of_scripts_may_start(kind: ScriptKind) -> None:
    assert make.EngineHarness("A").engine.run.script_room(kind) == float("inf")
