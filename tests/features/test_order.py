"""The order of features at the moments at which the first answer counts, and why it is so.

The simulator draws worlds in which each feature meets each other one (`tests/sim/kinds.py`); here
is what is to come of it where two have a say in the same thing.
"""

from __future__ import annotations

import pytest

from condor_pydagman import feature_table
from condor_pydagman.engine.feature import Feature
from condor_pydagman.engine.hooks import Hooks

# By moment: the features that answer, in their order, each with the reason why it is not later.
FIRST_ANSWER = {
    "holds_back": {
        "skipping": "a node that is skipped is in no bundle behind others",
        "bundle": "a node that runs behind others in a bundle is not looked up",
        "cache": "a node that does not run needs no site",
        "sites": "",
    },
    "before_ended": {
        "enough": "it is not needed rather than failed, unless it cleans up, which sites look at",
        "sites": "what has run to clean up is not done: it publishes and adds nothing",
        "publish": "a node whose values can't be read has failed: it adds nothing",
        "growth": "",
    },
    "before_retry": {
        "enough": "what is not wanted is set aside with the error of its run alone",
        "steering": "who has cancelled it is told, wherever it ran",
        "sites": "a group that leaves its site says so",
        "publish": "",  # which only forgets
    },
    "details": {
        "enough": "a node that is not needed counts as skipped as well",
        "run_if": "it knows by which values",
        "skipping": "what is skipped is in no cache",
        "bundle": "what waits for others has been looked up",
        "cache": "",
    },
    "runs_at": {"sites": ""},
    "blocks_starts": {"shared_limits": "it speaks of PRE scripts alone", "bundle": ""},
    "why_incomplete": {"feeder": ""},
    "node_of": {"bundle": "its events have a number of the task", "publish": ""},
    "seen_to_run": {"cache": ""},
}


def defining(moment: str) -> list[str]:
    """The features that have a method for a moment, in their order."""
    default = getattr(Feature, moment)
    found = []
    for entry in feature_table.FEATURES:
        module = feature_table.part(entry.name, "run") if entry.runs else None
        kinds = [one for one in vars(module).values() if isinstance(one, type)] if module else []
        own = [k for k in kinds if issubclass(k, Feature) and k.name == entry.name]
        found += [entry.name for kind in own if getattr(kind, moment) is not default]
    return found


@pytest.mark.parametrize("moment", FIRST_ANSWER)
def test_the_order_is_that_of_the_table(moment: str) -> None:
    present = {entry.name for entry in feature_table.FEATURES}
    assert defining(moment) == [name for name in FIRST_ANSWER[moment] if name in present]


@pytest.mark.parametrize("moment", FIRST_ANSWER)
def test_each_two_that_meet_have_a_reason(moment: str) -> None:
    *before, last = FIRST_ANSWER[moment].values()
    assert all(before), "say why it comes before the next one"
    assert not last


def test_moments_with_a_first_answer_are_in_the_table() -> None:
    """By what their methods return: a truth, a text or a place that ends the question."""
    answers = {"bool", "str", "tuple[str, str]", "int | None"}
    asked = {
        name
        for name in Hooks.__slots__
        if getattr(getattr(Feature, name, None), "__annotations__", {}).get("return") in answers
    }
    # All answers count: one is enough, or each must agree.
    counted = {"under_way", "is_deciding", "has_left", "tells_end", "before_end"}
    assert asked - counted == set(FIRST_ANSWER)
