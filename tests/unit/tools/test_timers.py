"""The table that shows the tempo of DAGMan has all there is, and says of each what it is for."""

from __future__ import annotations

import re

import pytest

from tools import timers

FOLDERS = ("engine", "daemon", "adapters", "dagman_job")
UNIT = ("MINUTE_S",)  # no interval: it is what a limit in a minute is of


def test_the_core_has_its_times_in_one_file() -> None:
    found = {
        f"{path.parent.name}/{path.name}": names
        for folder in FOLDERS
        for path in (timers.PACKAGE / folder).rglob("*.py")
        if (names := [one for one in map(_name, timers.constants(path)) if one not in UNIT])
    }
    assert not found, "put them into condor_pydagman/timers.py, with what they pace and why"


def _name(constant: object) -> str:
    return constant.targets[0].id  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize("one", list(timers.of_core()), ids=lambda one: one.name)
def test_each_says_what_it_paces_and_why(one: timers.Timer) -> None:
    assert one.paces
    assert one.why.endswith(".")
    text = "".join(
        path.read_text("utf-8")
        for path in timers.PACKAGE.rglob("*.py")
        if path != timers.PACKAGE / "timers.py"
    )
    assert len(re.findall(rf"\b{one.name}\b", text)) > 1, "nobody uses it"


@pytest.mark.parametrize(
    "one", list(timers.of_features()), ids=lambda one: f"{one.part}-{one.name}"
)
def test_each_of_a_feature_says_what_it_paces(one: timers.Timer) -> None:
    assert one.paces, "say it in a comment behind it"


def test_numbers_are_shown_as_they_are() -> None:
    shown = {one.name: one.seconds for one in timers.of_core()}
    assert shown["SUBMIT_SLICE_S"] == "0.02"
    assert shown["SCRIPT_RETRIES_S"] == "0.1, 0.2, 0.4, 0.8"
    assert shown["MAX_RETRY_DELAY_S"] == "2,592,000"
