"""Plays scenes on the fakes of the simulator: the loop, the performer and all oracles, in virtual
time.  A scene that tells nothing but how jobs and scripts end, up to the exit, has all that the
simulator must know; jobs end in another order there, to the same exit code."""

from __future__ import annotations

import re

import pytest

from tests import make
from tests.scenes.phrases import happen
from tests.scenes.reading import Scene, scenes
from tests.scenes.stage import Stage
from tests.sim.faults import Faults
from tests.sim.workload import Ends, Workload
from tests.sim.world import World

ENDS = re.compile(r"(?:(PRE|POST) of )?(\w+)(?:\.(\d+))? ends(?: (-?\d+))?")
TIME = re.compile(r"begin|deadline|\+\S+ s|\w+ queues \d+")


def is_plain(scene: Scene) -> bool:
    """Whether the simulator can play it."""
    happens = [what for step in scene.steps for what in step.happens]
    told = all(ENDS.fullmatch(what) or TIME.fullmatch(what) for what in happens)
    last = scene.steps[-1].actions[-1:]
    return told and last != [] and last[0].startswith("exit") and not scene.has("not on fakes")


PLAIN = {scene.name: scene for scene in scenes() if is_plain(scene)}


@pytest.mark.parametrize("name", PLAIN, ids=list(PLAIN))
def test_on_fakes(name: str) -> None:
    scene = PLAIN[name]
    stage = Stage(scene)
    run = stage.harness.engine.run
    config, limits, ends = run.config, run.limits, _ends(stage, scene)
    work = Workload(lambda: make.dag(scene.dag), config, limits, ends)
    world = World(5, workload=work, faults=Faults())
    world.run()
    assert f"exit {world.exit_codes[0]}" == scene.steps[-1].actions[-1], world.trace_text()


def _ends(stage: Stage, scene: Scene) -> Ends:
    """How jobs and scripts end, by the names that the simulator has for their attempts."""
    table: dict[str, int] = {}
    for what in (one for step in scene.steps for one in step.happens):
        found = ENDS.fullmatch(what)
        if found:
            script, node, proc, value = found.groups()
            attempt = stage.harness.engine.run.nodes.retries.get(stage.node(node), 0)
            name = f"{script or 'job'} {node} {attempt}"
            number = sum(key.startswith(f"{name} ") for key in table) if script else proc
            numbers = range(stage.jobs.counts.get(node, 1)) if number is None else [number]
            table.update((f"{name} {one}", int(value or 0)) for one in numbers)
        happen(stage, what)
    return Ends(table, stage.jobs.counts)
