"""Reads what others wrote in HTCondor's languages: submit descriptions, expressions.

HTCondor's readers of these languages run programs, open files and load libraries when a text says
so, in more forms than a filter of ours would ever know.  They therefore get such a text only in a
process that has given up its rights (`confinement`).  It can't open the files either that a
description names: those of the description's owner are put into the text before; the rest is not
followed.

A process with the bindings is started for that (`confined_reader`), which is no copy of this one
and makes a copy of itself for the texts of an owner.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import json
import os
import subprocess
import threading
from typing import TYPE_CHECKING, Any

from condor_pydagman.adapters.python_child import python_command
from condor_pydagman.errors import PoolError, PydagmanError
from condor_pydagman.printable import message
from condor_pydagman.vocabulary import UNREADABLE

if TYPE_CHECKING:
    from condor_pydagman.adapters.followed_files import Followed, Owner

_NAMES = ("CONDOR_CONFIG", "HOME", "LANG", "LC_ALL", "PATH", "TZ")  # of the environment
_ABSENT = os.strerror(errno.ENOENT)
_LINE = "condor_pydagman.features.common.adapters.submit_errors:first_unreadable"
_ODD = "what reads it has given no answer that can be understood"


class NotRead(PydagmanError):
    """A text is not read: that might do more than read it, or takes too long."""


def ask(function: str, owner: Owner, *arguments: Any, shape: Any = object) -> Any:
    """What a function of this package makes of a text, in a confined process.

    Args:
        function: `MODULE:NAME`.
        owner: of the text.
        arguments: what JSON knows; the answer is, too.
        shape: of the answer, see `_fits`.

    Raises:
        PoolError: the function has raised one, or an error of the bindings.
        NotRead: there was no answer, or one of another shape.
    """
    answer = _server().ask([function, *owner, list(arguments)])
    if isinstance(answer, str):
        raise NotRead(answer)
    is_refused, value = answer
    if not _fits(value, str if is_refused else shape):
        raise NotRead(_ODD)
    if is_refused:
        raise PoolError(value, transient=False)
    return value


def _fits(value: Any, shape: Any) -> bool:
    """Whether an answer, which may be the author's work, is of a shape: a type, or several, a list
    of one shape for all its items, a tuple of a shape for each, or a dictionary of those of its
    values."""
    if isinstance(shape, list):
        return isinstance(value, list) and all(_fits(one, shape[0]) for one in value)
    if isinstance(shape, tuple):
        alike = isinstance(value, list) and len(value) == len(shape)
        return alike and all(map(_fits, value, shape))
    if isinstance(shape, dict):
        alike = isinstance(value, dict) and value.keys() >= shape.keys()
        return alike and all(_fits(value[name], one) for name, one in shape.items())
    types = tuple(shape) if isinstance(shape, frozenset) else shape
    return isinstance(value, types)


def read(function: str, description: Followed, *arguments: Any, shape: Any) -> Any:
    """What a function makes of a description, which is its first argument; see `ask`."""
    try:
        return ask(function, description.owner, description.text, *arguments, shape=shape)
    except PoolError as error:
        if description.unread:
            raise NotRead("; ".join(description.unread)) from None
        if error.reason != UNREADABLE:
            raise
        raise PoolError(_unreadable(description), transient=False) from None


def _unreadable(description: Followed) -> str:
    """Why a description can't be read, of which HTCondor names neither file nor line."""
    if description.missing:
        return f"can't open file {message(description.missing[0])}: {_ABSENT}"
    try:
        _, line, reason = ask(_LINE, description.owner, description.text, shape=(int, str, str))
    except PydagmanError:  # there is no such line
        return UNREADABLE
    place = ""
    for name, text in description.included.items():
        lines = [one.strip() for one in text.split("\n")]
        if line in lines:
            place = f"line {lines.index(line) + 1} of {message(name)}, "
    return f"{place}'{message(line)}': {reason}"


class _Server:
    """The process that makes a copy of itself for the texts of an owner."""

    def __init__(self) -> None:
        self.maker = os.getpid()
        self._lock = threading.Lock()
        environment = {name: os.environ[name] for name in _NAMES if name in os.environ}
        environment |= {n: v for n, v in os.environ.items() if n.upper().startswith("_CONDOR_")}
        self._process = subprocess.Popen(  # noqa: S603  (a module of this package)
            python_command("from condor_pydagman.adapters.confined_reader import serve; serve()"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        atexit.register(self.end)

    def ask(self, request: list[Any]) -> tuple[bool, Any] | str:
        """Whether it was refused, and why or what was found; or why there is no answer."""
        with self._lock:
            try:
                line = self._line_for(json.dumps(request).encode("ascii") + b"\n")
            except BaseException:  # Ctrl-C: the next one would get this one's answer
                self.end()
                raise
            if not line:
                self.end()
                return "the process that reads such texts has ended"
        problem, text = json.loads(line)
        if problem:
            return str(problem)
        try:  # what it wrote may be the author's work
            is_refused, value = json.loads(text)
            return bool(is_refused), value
        except (ValueError, TypeError, RecursionError):
            return _ODD

    def _line_for(self, request: bytes) -> bytes:
        """The answer; b"" if the process has ended, which another thread may have seen before."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if self._process.stdin.closed:
            return b""
        try:
            self._process.stdin.write(request)
            self._process.stdin.flush()
            return self._process.stdout.readline()
        except OSError:
            return b""

    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def end(self) -> None:
        """End the process; once is enough."""
        atexit.unregister(self.end)
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self._process.kill()
        self._process.wait()


_servers: list[_Server] = []


def _server() -> _Server:
    """That of this process, not of the one that it is a copy of."""
    if not _servers or _servers[0].maker != os.getpid() or _servers[0].has_ended():
        _servers[:] = [_Server()]
    return _servers[0]
