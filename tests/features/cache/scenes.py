"""Nodes with a CACHE command, in scenes: runs of a DAG that ask the same store."""

from __future__ import annotations

from collections.abc import Iterable

from condor_pydagman.engine import actions as do
from condor_pydagman.features.cache.run import CachedFound, CachedKept, KeepCached, LookUpCached
from tests import make
from tests.features.cache.cached import Store
from tests.scenes.phrases import Told, phrase
from tests.scenes.stage import Stage, answers, fact
from tests.scenes.words import Words, in_words


@phrase("another run")
def _anew(stage: Stage) -> None:
    """Of the same DAG; it is to begin."""
    stage.run_anew({"cache": stage.part(Store).results()})


@phrase("<node> has changed")
def _changed(stage: Stage, node: str) -> None:
    stage.part(Store).changed.add(node)


@phrase("<name> takes <node> as it is")
def _taken(stage: Stage, name: str, node: str) -> None:
    """The result of its last run, between two runs of the DAG."""
    stage.part(Store).take(node, name)


@phrase("all jobs end")
def _all_end(stage: Stage) -> Told:
    """Well, as do those that follow, to the end of the DAG."""
    while stage.jobs.live:
        job = stage.jobs.live[0]
        stage.jobs.end(job)
        yield make.terminated(*job)


@answers(LookUpCached)
def _found(stage: Stage, request: LookUpCached) -> Iterable[CachedFound]:
    yield from stage.part(Store).answers(stage.harness.dag, request)


@answers(KeepCached)
def _kept(stage: Stage, request: KeepCached) -> Iterable[CachedKept]:
    yield from stage.part(Store).answers(stage.harness.dag, request)


@in_words(LookUpCached)
def _look_up(words: Words, request: LookUpCached) -> str:
    return f"look up {' '.join(words.name(one.node) for one in request.wanted)}"


@in_words(KeepCached)
def _keep(words: Words, request: KeepCached) -> str:
    return f"keep {' '.join(words.name(node) for node, _ in request.kept)}"


@fact("ran")
def _ran(stage: Stage) -> str:
    """All nodes that the run has submitted."""
    names = stage.harness.dag.names
    return " ".join(names[action.node] for action in stage.harness.ever(do.SubmitNode))
