"""The description of one knob, and how the text of a value becomes a value.

Types and limits are HTCondor's: numbers and booleans may be ClassAd expressions, which the adapter
that fetches the text evaluates.  Some limits are enforced, others bring the value into range.
"""

from __future__ import annotations

import enum
from typing import Any, Union

from condor_pydagman.errors import ConfigError
from condor_pydagman.named_tuple import NamedTuple

Value = Union[bool, int, float, str]
INT_MIN, INT_MAX = -2147483648, 2147483647
DAGMAN, SUBMIT = "condor_dagman", "condor_submit_dag"
TRANSFER = "condor_pydagman transfer"


class Kind(enum.Enum):
    """Type of a knob's values, as messages name it."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    REAL = "number"
    TEXT = "text"
    LIST = "list"
    PATH = "path"
    EXPRESSION = "expression"

    @property
    def evaluated(self) -> bool:
        """Whether the text may be a ClassAd expression that stands for its value."""
        return self in (Kind.BOOLEAN, Kind.INTEGER, Kind.REAL)


class Knob(NamedTuple):
    """A row of the table."""

    name: str  # as written in the configuration
    kind: Kind  # type of its values
    default: Value  # the value in force when it is not set
    meaning: str  # one sentence
    # limits of numbers, None for those of the type
    low: float | None = None
    high: float | None = None
    # whether a value beyond these is an error (stock's verdict); else the nearest limit is meant
    refused: bool = False
    unit: str = ""  # what a number counts, '' where the meaning says it
    programs: tuple[str, ...] = (DAGMAN,)  # who reads it
    caps: bool = False  # whether the administrator's value is an upper limit for a user's
    # stock DAGMan's default where ours differs.  HTCondor's own table gives it for a knob that is
    # not set; it counts if it is set.
    stock: Value | None = None
    # whether its default, set explicitly, means another thing than not set
    unlike_unset: bool = False
    why: str = ""  # reason for our own default
    # whether it decides what state a node comes into, so that who reads the nodes log has to know
    # it: the log says it if it is not at its default
    decides_states: bool = False
    no_effect_in_stock: bool = False  # whether stock reads it without doing anything with it
    no_effect: str = ""  # why it does nothing here, '' if it does something
    label: str = ""  # how `.dagman.out` names it in `LABEL setting: value`, '' for no such line

    def range(self) -> str:
        """What is allowed, in words."""
        if self.kind is Kind.BOOLEAN:
            return "True or False"
        if not self.kind.evaluated:
            return ""
        if self.low is not None and self.high is not None:
            return f"{self.low} to {self.high}"
        if self.low is not None:
            return f"{self.low} or more"
        return "any"

    def expected(self) -> str:
        """What a value has to be, for a message."""
        if self.kind is Kind.BOOLEAN:
            return "True or False"
        what = "a whole number" if self.kind is Kind.INTEGER else "a number"
        if self.range() == "any":
            return what
        return f"{what}, {self.range()}" if self.high is None else f"{what} from {self.range()}"

    def text(self, value: Value) -> str:
        """A value as it is written in the configuration and in `.dagman.out`."""
        return f"{value:f}" if self.kind is Kind.REAL else str(value)

    def parse(self, text: str) -> Value:
        """The value that an (evaluated) text stands for, whatever the limits.

        Raises:
            ConfigError: it is of the wrong type.
        """
        if self.kind is Kind.BOOLEAN:
            return _boolean(text)
        if not self.kind.evaluated:
            return text
        number = _number(text)
        if self.kind is Kind.REAL:
            return number
        if not INT_MIN <= number <= INT_MAX:
            raise ConfigError("no such integer")
        return int(number)

    def within(self, value: Value) -> Value:
        """The allowed value next to `value`."""
        if isinstance(value, (bool, str)):
            return value
        if self.low is not None and value < self.low:
            return type(value)(self.low)
        if self.high is not None and value > self.high:
            return type(value)(self.high)
        return value


def _boolean(text: str) -> bool:
    word = text.lower()
    if word in ("true", "false"):
        return word == "true"
    return _number(text) != 0


def _number(text: str) -> float:
    if text.lower() in ("true", "false"):
        return float(text.lower() == "true")
    try:
        number = float(text)
    except ValueError:
        raise ConfigError("not a number") from None
    if number != number or number in (float("inf"), float("-inf")):
        raise ConfigError("not a number")
    return number


def boolean(name: str, default: bool, meaning: str, **more: Any) -> Any:
    """A field of the table: True or False."""
    return Knob(name, Kind.BOOLEAN, default, meaning, **{"label": name, **more})


def integer(name: str, default: int, meaning: str, low: int | None = None, **more: Any) -> Any:
    """A field of the table: a whole number."""
    return Knob(name, Kind.INTEGER, default, meaning, low, **{"label": name, **more})


def real(name: str, default: float, meaning: str, low: float | None = None, **more: Any) -> Any:
    """A field of the table: any number."""
    return Knob(name, Kind.REAL, default, meaning, low, **{"label": name, **more})


def text(name: str, meaning: str, default: str = "", **more: Any) -> Any:
    """A field of the table: text, or what `kind` says."""
    return Knob(name, default=default, meaning=meaning, **{"kind": Kind.TEXT, **more})
