"""What the helper of conditions is asked, and answers."""

from __future__ import annotations

from collections.abc import Sequence

from condor_pydagman.named_tuple import NamedTuple

HELPER = "run_if"


class ConditionWanted(NamedTuple):
    """A condition that is to be evaluated.

    Attributes:
        number: of the request, which its answer is to have.
        expression: the ClassAd expression; of the names in it, those of `ad` have a value.
        ad: a ClassAd, as text.
        shown: parts of the expression, as people know them, and as they are in it.
    """

    node: int
    number: int
    expression: str
    ad: str
    shown: tuple[tuple[str, str], ...] = ()


class EvaluateConditions(NamedTuple):
    """Evaluate conditions.  Answered by ConditionsEvaluated, all of them, in one or several."""

    wanted: tuple[ConditionWanted, ...]


class ConditionResult(NamedTuple):
    """What a condition comes to: 1 for true, 0 for false, -1 if that can't be said.

    `text` says by which values, or why not; `number` is that of ConditionWanted.
    """

    node: int
    number: int
    value: int
    text: str


class ConditionsEvaluated(NamedTuple):
    """Answer to EvaluateConditions, or a part of it."""

    results: Sequence[ConditionResult]
