"""Plays all scenes on the engine.  After each step another engine replays the log so far, and has
to come to the same state; where it can, it plays the rest of the scene as well."""

from __future__ import annotations

import difflib

import pytest

from tests.scenes.phrases import happen
from tests.scenes.reading import Scene, Step, learn, scenes
from tests.scenes.stage import Stage
from tests.scenes.words import agree

learn()
SCENES = {scene.name: scene for scene in scenes()}
RESTARTED = [
    name
    for name, scene in SCENES.items()
    if not (scene.has("live only") or scene.has("no restart"))
]


@pytest.mark.parametrize("name", SCENES, ids=list(SCENES))
def test_scene(name: str) -> None:
    play(SCENES[name])


@pytest.mark.parametrize("name", RESTARTED, ids=RESTARTED)
def test_restarted(name: str) -> None:
    """Wherever another DAGMan takes over, the rest of the scene is the same."""
    for cut in range(1, len(SCENES[name].steps)):
        play(SCENES[name], restart_after=cut)


def test_names_are_told_apart() -> None:
    names = [scene.name for scene in scenes()]
    assert len(names) == len(SCENES), {name for name in names if names.count(name) > 1}


def play(scene: Scene, restart_after: int = 0) -> None:
    """Play it to its end; no further than that step if another DAGMan can't take over there."""
    stage = Stage(scene)
    for number, step in enumerate(scene.steps, 1):
        print(f"{step.place}: {step.told}")  # pytest shows it if something is raised
        replays = number > restart_after and not scene.has("live only")
        wrong = _play(stage, step) or (_replay(stage) if replays else "")
        if wrong:
            after = f" (restarted after step {restart_after})" if restart_after else ""
            pytest.fail(f"tests/{step.place}: {step.told}{after}\n{wrong}", pytrace=False)
        if number == restart_after:
            if not stage.restartable:
                return
            happen(stage, "restart")


def _play(stage: Stage, step: Step) -> str:
    """Play a step; returns what is wrong with what comes of it."""
    stage.said = []
    done = [action for what in step.happens for action in happen(stage, what)]
    for text in step.says:
        if not any(text in line for line in stage.said):
            return _difference([text], stage.said)
    for text in step.unsaid:
        if any(text in line for line in stage.said):
            return f"it says {text}"
    if not agree(step.actions, done):
        short = (action.partition(" (")[0] for action in done)
        shown = [one if one in step.actions else action for one, action in zip(short, done)]
        return _difference(step.actions, shown)
    facts = [stage.fact(fact) for fact in step.facts]
    return _difference(step.facts, facts) if facts != step.facts else ""


def _replay(stage: Stage) -> str:
    """What another engine that has read the log so far has come to, if it is something else."""
    try:
        if stage.replayable:
            stage.harness.same_replay()
    except AssertionError as error:
        return f"a replay of the log comes to another state: {error}"
    return ""


def _difference(expected: list[str], got: list[str]) -> str:
    lines = difflib.unified_diff(expected, got, "expected", "got", n=99, lineterm="")
    return "\n".join(lines)
