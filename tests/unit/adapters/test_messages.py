"""What a process tells another one comes through as it is."""

from __future__ import annotations

from enum import IntEnum
from itertools import chain
from typing import Any

import pytest

from condor_pydagman.adapters.processes import Messages
from condor_pydagman.adapters.schedd_requests import Listing, QueueFull
from condor_pydagman.named_tuple import NamedTuple


class Kind(IntEnum):
    """A number with a name."""

    ONE = 1


class Part(NamedTuple):
    """Of a message."""

    name: str
    values: tuple[int, ...] = ()


KINDS = (Kind, Part, QueueFull)


def passed(value: Any) -> Any:
    """What is received of a value that is sent."""
    (found,) = Messages(KINDS).received(Messages(KINDS).line(value))
    return found


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, 3, 1.5, "caf\u00e9 \udce9\n", Kind.ONE),
        [1, (2, ["x"]), ()],
        {"a": Part("b", (1, 2)), "{}": {"": []}},
        (Part("b"), [Part("c")]),
    ],
)
def test_values_come_through(value: Any) -> None:
    found = passed(value)
    assert found == value
    assert repr(found) == repr(value)


def test_errors_come_through() -> None:
    found = passed(QueueFull("no room"))
    assert type(found) is QueueFull
    assert vars(found) == {"reason": "no room", "transient": True}


def test_lines_come_in_parts_and_together() -> None:
    messages = Messages()
    data = messages.line("a") + messages.line(Kind.ONE) + messages.line("b" * 9)
    parts = [messages.received(data[at : at + 5]) for at in range(0, len(data), 5)]
    assert [*chain(*parts)] == messages.received(data) == ["a", 1, "b" * 9]


def test_nothing_else_is_made_of_a_message() -> None:
    with pytest.raises(AssertionError):
        passed(Listing(()))
    with pytest.raises(KeyError):
        Messages(KINDS).received(b'{"Listing": [[]]}\n')
