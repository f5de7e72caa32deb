"""Long work in steps, for a caller that has other things to do in between."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TypeVar

_T = TypeVar("_T")
Steps = Generator[None, None, _T]  # each `next` is a step; returns the result

# Amounts that take some milliseconds:
AT_A_TIME = 50_000  # numbers in an array
OBJECTS = 3000


def at_once(steps: Steps[_T]) -> _T:
    """Take all steps, one after the other, where nothing else is to be done in between."""
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            result: _T = stop.value
            return result


def in_parts(objects: Sequence[_T]) -> Iterator[Sequence[_T]]:
    """A sequence in parts of so many objects that something can be done with them in a step."""
    return (objects[begin : begin + OBJECTS] for begin in range(0, len(objects), OBJECTS))


def mapped(function: Callable[[int], int], numbers: array[int]) -> Steps[array[int]]:
    """As `map`, into an array of the same type."""
    result = array(numbers.typecode)
    for begin in range(0, len(numbers), AT_A_TIME):
        result.extend(map(function, numbers[begin : begin + AT_A_TIME]))
        yield
    return result
