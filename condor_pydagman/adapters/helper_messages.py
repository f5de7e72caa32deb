"""Encodes what DAGMan asks of a helper, and its answers, in what JSON knows.

Lists stay lists, tuples stay tuples, and of the classes that a helper names an object comes back:
no other is ever made of a message.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_TUPLE, _DICT = "", "{}"


class Messages:
    """The messages of one helper.

    Args:
        kinds: all named tuples and numbers with names that are in its messages.
    """

    def __init__(self, kinds: Iterable[type]) -> None:
        self._kinds: dict[str, Any] = {kind.__name__: kind for kind in kinds}
        self._kinds[_TUPLE] = lambda *values: values
        self._kinds[_DICT] = lambda *pairs: dict(pairs)

    def encoded(self, value: Any) -> Any:
        """A value in what JSON knows."""
        if isinstance(value, tuple):
            name = type(value).__name__ if type(value) is not tuple else _TUPLE
            assert name in self._kinds, name
            return {name: [self.encoded(one) for one in value]}
        if isinstance(value, list):
            return [self.encoded(one) for one in value]
        if isinstance(value, dict):
            return {_DICT: [self.encoded(pair) for pair in value.items()]}
        name = type(value).__name__
        return {name: [int(value)]} if name in self._kinds else value

    def decoded(self, message: Any) -> Any:
        """The value."""
        if isinstance(message, list):
            return [self.decoded(one) for one in message]
        if isinstance(message, dict):
            ((name, values),) = message.items()
            return self._kinds[name](*map(self.decoded, values))
        return message
