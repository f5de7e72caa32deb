"""The ids of events as text."""

from __future__ import annotations

import pytest

from condor_pydagman.errors import UsageError
from condor_pydagman.monitor.dag_monitor import JOB_LOG, Position, parse_position


@pytest.mark.parametrize(
    "position",
    [Position(), Position(7, 130, 0xFFFFFFFF, 20), Position(7, 130, 9, 20, JOB_LOG, 2)],
)
def test_a_position_is_read_back(position: Position) -> None:
    assert parse_position(str(position)) == position


def test_the_beginning() -> None:
    assert parse_position("") == parse_position("0") == Position()


@pytest.mark.parametrize("text", ["1", "x", "00000007.130", "00000007.1-00000007.2x3"])
def test_what_is_none(text: str) -> None:
    with pytest.raises(UsageError, match='give the "id" of the last event'):
        parse_position(text)
