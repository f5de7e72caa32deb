"""Wakes the loop when the nodes log grows or a file appears, by Linux inotify through ctypes.

Where inotify can't be used (or the file system is remote and other machines write to it),
`fileno()` is -1 and the caller checks the file at intervals.
"""

from __future__ import annotations

import ctypes
import os

_IN_MODIFY = 0x2
_IN_ATTRIB = 0x4  # also a deletion, of which there is no other event while the file is open
_IN_MOVE_SELF = 0x800
_IN_NAMES = 0x40 | 0x80 | 0x100 | 0x200  # moved away, moved here, made, deleted
_IN_NONBLOCK = os.O_NONBLOCK
_IN_CLOEXEC = os.O_CLOEXEC
_MAX_READS = 16  # in one call: others may make and delete names faster than events are read

# statfs(2) magic numbers of file systems that another machine may write to without our kernel's
# knowledge: NFS, SMB, CIFS, SMB2, Lustre, GPFS, Ceph, FUSE, AFS, 9p
_REMOTE = {0x6969, 0x517B, 0xFF534D42, 0xFE534D42, 0x0BD00BD0, 0x47504653}
_REMOTE |= {0x00C36400, 0x65735546, 0x5346414F, 0x01021997}


class _Watch:
    """Becomes readable when an event of `mask` occurs at `path`."""

    def __init__(self, path: str, mask: int) -> None:
        self._fd = -1
        if not is_remote(path):
            self._fd = _watch(path, mask)

    def watches(self, directory: str) -> bool:
        """Become readable for names in a directory, too; returns whether that can be done."""
        return self._fd >= 0 and not is_remote(directory) and _add(self._fd, directory, _IN_NAMES)

    def fileno(self) -> int:
        """Descriptor to poll for reading; -1 if inotify can't be used."""
        return self._fd

    def clear(self) -> None:
        """Discard the events so far."""
        if self._fd >= 0:
            try:
                for _ in range(_MAX_READS):
                    os.read(self._fd, 65536)
            except BlockingIOError:
                pass

    def close(self) -> None:
        """Close the descriptor."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class FileWatch(_Watch):
    """Watches one file for writes, renaming and deletion."""

    def __init__(self, path: str) -> None:
        super().__init__(path, _IN_MODIFY | _IN_ATTRIB | _IN_MOVE_SELF)


class DirectoryWatch(_Watch):
    """Watches a directory for names that appear or disappear."""

    def __init__(self, path: str) -> None:
        super().__init__(path, _IN_NAMES)


def is_remote(path: str) -> bool:
    """Whether a file is on a file system that other machines write to."""
    buffer = ctypes.create_string_buffer(256)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.statfs(os.fsencode(path), buffer) != 0:
        return False
    return int(ctypes.c_uint32.from_buffer(buffer).value) in _REMOTE


def _watch(path: str, events: int) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    fd = int(libc.inotify_init1(_IN_NONBLOCK | _IN_CLOEXEC))
    if fd < 0:
        return -1
    if not _add(fd, path, events):
        os.close(fd)
        return -1
    return fd


def _add(fd: int, path: str, events: int) -> bool:
    add = ctypes.CDLL(None).inotify_add_watch
    return int(add(fd, os.fsencode(path), ctypes.c_uint32(events))) >= 0


class HaltFile:
    """Reports when the halt file has appeared or disappeared.

    Args:
        path: its name.
        shared: a watch that others read, for both: a user has 128 by default.
        is_there: as last reported.
    """

    def __init__(
        self, path: str, shared: FileWatch | None = None, *, is_there: bool = False
    ) -> None:
        self.path = path
        self.is_there = is_there
        directory = os.path.dirname(path) or "."
        self._is_shared = shared is not None and shared.watches(directory)
        self._watch = shared if shared and self._is_shared else DirectoryWatch(directory)

    def fileno(self) -> int:
        """Descriptor to poll for reading; -1 if inotify can't be used."""
        return self._watch.fileno()

    def look(self) -> bool | None:
        """True if the file has appeared since the last call, False if it has disappeared, else
        None."""
        if not self._is_shared:
            self._watch.clear()
        there = os.access(self.path, os.R_OK)
        if there == self.is_there:
            return None
        self.is_there = there
        return there
