"""Actions are plain values, all named in the union that adapters go by."""

from __future__ import annotations

import inspect
from typing import get_args

from condor_pydagman.engine import actions as do


def test_every_action_is_in_the_union() -> None:
    classes = {
        one for _, one in inspect.getmembers(do, inspect.isclass) if one.__module__ == do.__name__
    }
    assert classes - {do.ConditionWanted, do.CachedWanted} == set(get_args(do.Action))


def test_actions_are_values() -> None:
    assert do.RemoveJobs("why") == do.RemoveJobs("why", 0)
    assert len({do.Exit(1), do.Exit(1, False), do.Exit(1, True)}) == 2
