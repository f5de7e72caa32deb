"""Settings of nodes: from the options of a request, and into a rescue file and back."""

from __future__ import annotations

from typing import Any

import pytest

from condor_pydagman.engine.node_settings import MAX_BYTES, NodeSettings
from condor_pydagman.features.steering import setting_options
from condor_pydagman.features.steering.setting_options import SettingError, read_setting_options
from condor_pydagman.language.parser import parse
from condor_pydagman.records.rescue import setting_lines

ALL = {
    "priority": -3,
    "retries": 2,
    "timeout": "RUNNING 2h QUEUED 0",
    "new_category": "big",
    "vars": {"x": 'a "b" c\\', "+Wanted": "true"},
}


def test_all_of_them() -> None:
    assert read_setting_options(ALL) == NodeSettings(
        -3, 2, (0, 7200, None), "big", (("x", 'a "b" c\\'), ("My.Wanted", "true"))
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "say what to set: priority, retries, timeout, new_category, vars"),
        ({"color": 1}, "set has no option 'color'; it takes priority"),
        ({"priority": 1.5}, "priority is a whole number"),
        ({"priority": True}, "priority is a whole number"),
        ({"priority": -(2**40)}, "priority is a whole number from -2147483647 to 2147483647"),
        ({"retries": -1}, "retries is a whole number from 0 to 2147483647"),
        ({"timeout": 5}, "timeout is as in the TIMEOUT command"),
        ({"timeout": "RUNNING"}, "not 'RUNNING'"),
        ({"timeout": "TOTAL 1h\nABORT-DAG-ON NODE 1"}, "timeout is as in"),
        ({"new_category": ""}, "new_category is the name of a category"),
        ({"vars": {}}, "vars is an object of JSON"),
        ({"vars": {"x": 1}}, "the value of 'x' in vars is a string"),
        ({"vars": {"a b": "1"}}, "VARS can't have 'a b'"),
        ({"vars": {"x": "1\nqueue"}}, "VARS can't have 'x'"),
        ({"vars": {"queue": "1"}}, "does not begin with queue"),
        ({"vars": {"x": "\ud800"}}, "VARS can't have 'x'"),  # no rescue file could be written
        ({"vars": {"\ud800": "1"}}, "VARS can't have"),
    ],
)
def test_what_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingError) as error:
        read_setting_options(options)
    assert words in str(error.value)


@pytest.mark.parametrize(
    "options",
    [
        {"timeout": "QUEUED 1h " * 100},
        {"vars": {"x": "1" * MAX_BYTES}},
        {"vars": {f"x{number}": "" for number in range(MAX_BYTES // 4)}},
    ],
)
def test_what_no_record_has_room_for_is_not_read(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loop of DAGMan would stand still for a minute."""
    monkeypatch.setattr(setting_options, "parse", None)
    monkeypatch.setattr(setting_options, "lines_of", None)
    with pytest.raises(SettingError):
        read_setting_options(options)


def test_the_lines_of_a_rescue_file_are_read_as_the_same() -> None:
    lines = list(setting_lines("splice+a", read_setting_options(ALL)))
    found = parse("".join(lines), "rescue")
    assert not found.errors
    assert [type(command).__name__ for command in found.commands] == [
        "Priority", "TimeoutLine", "Category", "Vars", "Vars",
    ]  # fmt: skip
    assert found.commands[1][3:] == (0, 7200, None, "")
    assert all(command[1] == "splice+a" for command in found.commands)


def test_nothing_is_written_of_what_was_not_set() -> None:
    assert list(setting_lines("a", NodeSettings(retries=7))) == []
