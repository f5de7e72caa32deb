"""What DAGMan asks of a helper comes through as it is."""

from __future__ import annotations

import json
from enum import IntEnum
from typing import Any

import pytest

from condor_pydagman.adapters.helper_process import Messages
from condor_pydagman.named_tuple import NamedTuple


class Kind(IntEnum):
    """A number with a name."""

    ONE = 1


class Part(NamedTuple):
    """Of a message."""

    name: str
    values: tuple[int, ...] = ()


class Unknown(NamedTuple):
    """Of no message."""

    name: str


MESSAGES = Messages((Kind, Part))


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
    found = MESSAGES.decoded(json.loads(json.dumps(MESSAGES.encoded(value))))
    assert found == value
    assert repr(found) == repr(value)


def test_nothing_else_is_made_of_a_message() -> None:
    with pytest.raises(AssertionError):
        MESSAGES.encoded(Unknown("a"))
    with pytest.raises(KeyError):
        MESSAGES.decoded({"Unknown": ["a"]})
