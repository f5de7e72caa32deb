"""The state of a run: who may write what, which moves are legal, and the recount of all of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from condor_pydagman import engine
from condor_pydagman.engine.dag_states import MOVES, Phase
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.jobs import ENDED, IDLE
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.vocabulary import ScriptKind
from tests import make
from tests.sim.invariants import validate

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


def test_an_old_log_is_believed_about_when_an_event_happened() -> None:
    harness = make.EngineHarness("A").begin(recovering=True)
    assert harness.engine.run.happened(harness.now - 7) == harness.now - 7
    assert harness.engine.run.happened(harness.now + 7) == harness.now
    live = make.harness_of("A")
    assert live.engine.run.happened(live.now - 7) == live.now


@pytest.mark.parametrize("kind", list(ScriptKind))
def test_without_a_limit_any_number_of_scripts_may_start(kind: ScriptKind) -> None:
    assert make.EngineHarness("A").engine.run.script_room(kind) == float("inf")


# Phases of a run: which may follow which.


@pytest.mark.parametrize("old", Phase)
@pytest.mark.parametrize("new", Phase)
def test_a_phase_follows_only_where_the_table_says(old: Phase, new: Phase) -> None:
    engine = make.EngineHarness("A").engine
    engine.run.phase = old
    if new in MOVES[old]:
        engine.run.enter(new)
        assert engine.run.phase is new
        return
    with pytest.raises(AssertionError):
        engine.run.enter(new)


def test_the_end_is_the_end_and_can_be_reached_from_everywhere() -> None:
    assert MOVES[Phase.ENDED] == frozenset()
    assert all(Phase.ENDED in MOVES[phase] for phase in Phase if phase is not Phase.ENDED)


# The recount finds what is wrong; otherwise it would guard nothing.


def harness() -> make.EngineHarness:
    made = make.dag("A -> B; C D; E\nSCRIPT PRE C p\nSCRIPT PRE D p")
    ready = make.EngineHarness(made, limits=Throttles(pre=1)).begin()
    ready.take("A", 5)
    return ready


def set_state(engine: Engine, node: int, state: State) -> None:
    """Change a state together with the counts, so that only what follows from it is wrong."""
    engine.run.nodes.counts[engine.run.nodes.states[node]] -= 1
    engine.run.nodes.states[node] = state
    engine.run.nodes.counts[state] += 1


def miscount(engine: Engine) -> None:
    engine.run.nodes.counts[State.DONE] += 1


def idle(engine: Engine) -> None:
    engine.run.job_table.idle += 1


def idle_after_end(engine: Engine) -> None:
    engine.run.job_table.by_node[0].procs[0] = IDLE | ENDED


def wrong_cluster(engine: Engine) -> None:
    engine.run.job_table.by_cluster[77] = 0


def ready_not_queued(engine: Engine) -> None:
    set_state(engine, engine.run.dag.ids["A"], State.READY)


def queued_not_ready(engine: Engine) -> None:
    engine.run.ready.add(engine.run.dag.ids["B"], 0)


def ran_ahead(engine: Engine) -> None:
    set_state(engine, engine.run.dag.ids["B"], State.SUBMITTED)


def too_many_scripts(engine: Engine) -> None:
    set_state(engine, engine.run.dag.ids["D"], State.PRE_RUN)


def test_all_is_well_at_first() -> None:
    validate(harness().engine.run)


@pytest.mark.parametrize(
    "spoil",
    [
        miscount,
        idle,
        idle_after_end,
        wrong_cluster,
        ready_not_queued,
        queued_not_ready,
        ran_ahead,
        too_many_scripts,
    ],
)
def test_what_is_wrong_is_found(spoil: Callable[[Engine], None]) -> None:
    engine = harness().engine
    spoil(engine)
    with pytest.raises(AssertionError):
        validate(engine.run)
