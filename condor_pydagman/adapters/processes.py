"""What processes of this package have in common: messages to each other, an end with their parent,
what they use of the machine."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import time
from collections.abc import Callable, Collection, Iterable
from enum import Enum
from types import MappingProxyType
from typing import Any

from condor_pydagman.errors import PydagmanError

_PR_SET_PDEATHSIG = 1
_KB = 1 << 10


def end_with(parent: int, number: int = signal.SIGKILL) -> None:
    """In a process just forked: have the kernel send it this signal when its parent ends, whatever
    it does then (prctl(2))."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)
    if os.getppid() != parent:  # it died before the kernel knew
        os._exit(0)


def close_all_but(kept: Collection[int]) -> None:
    """Close what the parent had open, but for the standard streams: a lock that lives as long as
    its descriptor must not outlive the parent."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) not in kept:
            with contextlib.suppress(OSError):  # that of the directory just listed
                os.close(int(name))


def error_text(error: Exception) -> str:
    """An error in words, one that is not expected in a line."""
    if isinstance(error, PydagmanError):
        return str(error)
    return " ".join(str(error).split()) or type(error).__name__


_PLAIN = frozenset((str, int, float, bool, type(None)))  # as in JSON


class Messages:
    """Messages from a process to another one, each a line of JSON.

    They are what JSON knows, tuples, and objects of some classes; nothing else is made of a line.

    Args:
        kinds: these classes: named tuples, enumerations, and errors whose attributes are the
            parameters of the class.
    """

    def __init__(self, kinds: Iterable[type] = ()) -> None:
        self._names = {kind: kind.__name__ for kind in (*kinds, tuple)}
        self._makers = {kind.__name__: _maker(kind) for kind in kinds}
        self._makers |= {"tuple": lambda *values: values, "dict": lambda *pairs: dict(pairs)}
        self._decode = json.JSONDecoder(object_hook=self._made).decode
        self._begun: list[bytes] = []  # parts of a line whose end has not come

    def line(self, value: Any) -> bytes:
        """A message, as it is sent."""
        return json.dumps(self._encoded(value)).encode("ascii") + b"\n"

    def received(self, data: bytes) -> list[Any]:
        """The messages that are whole with what has come."""
        lines, newline, rest = data.rpartition(b"\n")
        if not newline:
            self._begun.append(rest)
            return []
        whole = b"".join((*self._begun, lines))
        self._begun = [rest]
        return [self._decode(line.decode("ascii")) for line in whole.split(b"\n")]

    def _encoded(self, value: Any) -> Any:
        kind = type(value)
        name = self._names.get(kind)
        if name is not None:
            return {name: self._all(value if isinstance(value, tuple) else _parts(value))}
        if kind is list:
            return self._all(value)
        if kind is dict or kind is MappingProxyType:
            return {"dict": [self._all(pair) for pair in value.items()]}
        assert value is None or isinstance(value, (str, int, float)), kind
        return value  # without the name that it may have

    def _all(self, values: Iterable[Any]) -> list[Any]:
        encoded = self._encoded
        return [one if type(one) in _PLAIN else encoded(one) for one in values]

    def _made(self, message: dict[str, list[Any]]) -> Any:
        ((name, values),) = message.items()
        return self._makers[name](*values)


def _parts(value: Any) -> Iterable[Any]:
    return (value.name,) if isinstance(value, Enum) else vars(value).items()


def _maker(kind: type) -> Callable[..., Any]:
    if issubclass(kind, Enum):
        return kind.__getitem__
    if issubclass(kind, Exception):
        return lambda *attributes: kind(**dict(attributes))
    return kind


def memory_kb(pid: int) -> tuple[int, int]:
    """How much memory a process has, in KB: all, and what it may share with others.

    Raises:
        OSError: there is no such process.
    """
    with open(f"/proc/{pid}/statm", "rb") as file:
        _, resident, shared, *_ = map(int, file.read().split())
    page_kb = os.sysconf("SC_PAGE_SIZE") // _KB
    return resident * page_kb, shared * page_kb


def own_usage() -> tuple[int, float]:
    """This process's own memory, in KB, without what it may share with others, and its CPU time in
    seconds; 0 KB where nothing tells."""
    try:
        resident, shared = memory_kb(os.getpid())
    except OSError:
        resident = shared = 0
    return resident - shared, time.process_time()
