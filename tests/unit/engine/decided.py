"""A DAG with conditions, whose evaluation and files are answered at once, for tests of them."""

from __future__ import annotations

from typing import Any

from condor_pydagman.engine import inputs
from condor_pydagman.features.publish.run import ReadResult, ResultRead
from condor_pydagman.features.run_if.adapters.evaluation import evaluate
from condor_pydagman.features.run_if.run import (
    ConditionResult,
    ConditionsEvaluated,
    EvaluateConditions,
)
from tests import make
from tests.make import QUIET
from tests.unit.engine.steered import Steered


def evaluated(request: EvaluateConditions) -> ConditionsEvaluated:
    """What conditions come to, by HTCondor's ClassAds."""
    return ConditionsEvaluated(
        [ConditionResult(one.node, one.number, *evaluate(*one[2:])) for one in request.wanted]
    )


class Decided(Steered):
    """Answers EvaluateConditions by HTCondor's ClassAds, ReadResult by `files`.

    Attributes:
        files: by name, what a file has in it, or why it can't be read.
    """

    files: dict[str, list[tuple[str, str]] | str]

    def answers(self, request: Any) -> list[Any]:
        if isinstance(request, EvaluateConditions):
            return [evaluated(request)]
        if not isinstance(request, ReadResult):
            return []
        found = self.files[request.file]
        if isinstance(found, str):
            return [ResultRead(request.node, request.retry, error=found)]
        return [ResultRead(request.node, request.retry, found)]

    def why(self, name: str) -> str:
        """Why a node failed."""
        return self.engine.run.nodes.errors[self.dag.ids[name]]

    def replayed(self) -> str:
        states = super().replayed()
        other = self.replay()
        other.tell(inputs.LogCaughtUp())
        mine, its = self.engine.run, other.engine.run
        assert mine.nodes.marks == its.nodes.marks
        mine_published, its_published = (one.features.get("publish") for one in (mine, its))
        assert mine_published is None or mine_published.values == its_published.values
        assert mine.nodes.gated.unfinished == its.nodes.gated.unfinished
        assert mine.nodes.gated.opened == its.nodes.gated.opened
        return states


def decided(text: str) -> Decided:
    """A DAG that has begun; `text` is as of `make.dag`."""
    harness = Decided(make.dag(text), QUIET)
    harness.files = {}
    harness.begin()
    harness.settle()
    return harness
