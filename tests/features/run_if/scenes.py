"""Conditions of nodes, in scenes: HTCondor's ClassAds evaluate them."""

from __future__ import annotations

from collections.abc import Iterable

from condor_pydagman.features.run_if.adapters.evaluation import evaluate
from condor_pydagman.features.run_if.run import (
    ConditionResult,
    ConditionsEvaluated,
    EvaluateConditions,
)
from tests.scenes.stage import Stage, answers
from tests.scenes.words import Words, in_words


def evaluated(request: EvaluateConditions) -> ConditionsEvaluated:
    """What conditions come to."""
    return ConditionsEvaluated(
        [ConditionResult(one.node, one.number, *evaluate(*one[2:])) for one in request.wanted]
    )


@answers(EvaluateConditions)
def _evaluated(_: Stage, request: EvaluateConditions) -> Iterable[ConditionsEvaluated]:
    yield evaluated(request)


@in_words(EvaluateConditions)
def _evaluate(words: Words, request: EvaluateConditions) -> str:
    return f"decide {' '.join(words.name(one.node) for one in request.wanted)}"
