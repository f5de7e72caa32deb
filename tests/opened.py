"""Which files of a directory are opened, as their owner can see it: by inotify."""

from __future__ import annotations

import ctypes
import os
import struct
from pathlib import Path
from typing import Any

_IN_OPEN, _IN_NONBLOCK = 0x20, os.O_NONBLOCK
_EVENT = struct.Struct("iIII")


class Opened:
    """In a `with` block: the names in these directories that somebody opens.

    Attributes:
        names: of files and directories, known after the block.
    """

    def __init__(self, *directories: Path) -> None:
        self.names: set[str] = set()
        libc = ctypes.CDLL(None, use_errno=True)
        self._fd = int(libc.inotify_init1(_IN_NONBLOCK | os.O_CLOEXEC))
        for one in directories:
            if libc.inotify_add_watch(self._fd, os.fsencode(one), _IN_OPEN) < 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *error: Any) -> None:
        while True:
            try:
                data = os.read(self._fd, 1 << 16)
            except BlockingIOError:
                break
            while data:
                *_, length = _EVENT.unpack_from(data)
                name = data[_EVENT.size : _EVENT.size + length].rstrip(b"\0")
                self.names.add(os.fsdecode(name))
                data = data[_EVENT.size + length :]
        os.close(self._fd)
