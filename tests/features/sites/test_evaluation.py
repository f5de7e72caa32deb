"""Whether groups and sites fit each other."""

from __future__ import annotations

from typing import Any

import pytest

from condor_pydagman.features.sites.adapters.evaluation import (
    BadPolicy,
    group_ad,
    is_true,
    judge,
    verdicts,
)
from condor_pydagman.features.sites.analysis import Obstacle
from condor_pydagman.features.sites.choice import Room
from condor_pydagman.features.sites.commands import NO_POLICY, SitePolicy
from tests.features.sites.some_ads import site

WANTS_X = SitePolicy("TARGET.Is_X_Site =?= true", "TARGET.Speed * 2", (("WANT_X", "true"),))


def test_both_sides_must_agree() -> None:
    group = group_ad(WANTS_X, {"Owner": "ann"})
    ours = {"Is_X_Site": True, "Speed": 4}
    want = '=TARGET.WANT_X =?= true && TARGET.Owner == "ann"'
    found = verdicts(
        group,
        [
            site("a", Requirements=want, **ours),
            site("b", Requirements='=TARGET.Owner == "bob"', **ours),
            site("c", Speed=9),
            site("d", **ours),
            site("e", -1, **ours),
            site("f", **ours),
        ],
        {name: Room(1, name == "f") for name in "abcdef"},
    )
    O = Obstacle  # noqa: E741
    assert [one.obstacle for one in found] == [
        *(O.NONE, O.SITE_REFUSES, O.GROUP_REFUSES, O.NONE, O.BROKEN, O.FULL)
    ]
    assert found[0].rank == 8


@pytest.mark.parametrize("text", ["undefined", "error", '"yes"', "TARGET.Nothing", "0", "false"])
def test_what_is_not_true_refuses(text: str) -> None:
    group = group_ad(NO_POLICY, {})
    refused = judge(group, site("a", Requirements="=" + text), None)
    assert refused.obstacle is Obstacle.SITE_REFUSES
    refused = judge(group_ad(SitePolicy(text), {}), site("a"), None)
    assert refused.obstacle is Obstacle.GROUP_REFUSES


@pytest.mark.parametrize(("rank", "value"), [("", 0), ("undefined", 0), ('"x"', 0), ("true", 1)])
def test_a_rank_that_is_no_number_counts_as_0(rank: str, value: Any) -> None:
    assert judge(group_ad(SitePolicy(rank=rank), {}), site("a"), None).rank == value


@pytest.mark.parametrize("name", ["Owner", "owner", "MyType"])
def test_a_policy_does_not_change_who_the_group_is(name: str) -> None:
    group = group_ad(SitePolicy(attributes=((name, '"root"'),)), {"Owner": "ann"})
    want = '=TARGET.Owner == "ann" && TARGET.MyType == "PydagmanSiteGroup"'
    assert judge(group, site("a", Requirements=want), None).obstacle is Obstacle.NONE


def test_an_expression_that_cannot_be_read() -> None:
    with pytest.raises(BadPolicy, match="Requirements = a &&"):
        group_ad(SitePolicy("a &&"), {})


def test_the_expression_of_a_policy_over_both() -> None:
    group = group_ad(
        SitePolicy(rematch_if="TARGET.Queue > Limit", attributes=(("Limit", "5"),)), {}
    )
    assert is_true(group, "RematchIf", site("a", Queue=6).ad)
    assert not is_true(group, "RematchIf", site("a", Queue=5).ad)
    assert not is_true(group, "RematchIf", site("a").ad)
