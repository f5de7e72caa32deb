"""Wakes us when the nodes log grows or a file appears: Linux inotify through ctypes, so that
waiting costs nothing.

Where the kernel can't tell (no inotify, a remote file system that others write to), `fileno()` is
-1 and the caller looks at the file now and then.
"""

from __future__ import annotations

import ctypes
import os

_IN_MODIFY = 0x2
_IN_ATTRIB = 0x4  # a deletion, too: the kernel says no more while we hold the file open
_IN_MOVE_SELF = 0x800
_IN_NAMES = 0x40 | 0x80 | 0x100 | 0x200  # moved away, moved here, made, deleted
_IN_NONBLOCK = os.O_NONBLOCK
_IN_CLOEXEC = os.O_CLOEXEC
_READS_MAX = 16  # at a time: somebody may make and delete names faster than we read of them

# statfs(2) magic numbers of file systems that another machine may write to without our kernel's
# knowledge: NFS, SMB, CIFS, SMB2, Lustre, GPFS, Ceph, FUSE, AFS, 9p
_REMOTE = {0x6969, 0x517B, 0xFF534D42, 0xFE534D42, 0x0BD00BD0, 0x47504653}
_REMOTE |= {0x00C36400, 0x65735546, 0x5346414F, 0x01021997}


class _Watch:
    """Tells when something of `mask` happens to `path`."""

    def __init__(self, path: str, mask: int) -> None:
        self._fd = -1
        if not is_remote(path):
            self._fd = _watch(path, mask)

    def fileno(self) -> int:
        """Descriptor to poll for reading; -1 if the kernel can't tell."""
        return self._fd

    def clear(self) -> None:
        """Take note of all that has happened so far."""
        if self._fd >= 0:
            try:
                for _ in range(_READS_MAX):
                    os.read(self._fd, 65536)
            except BlockingIOError:
                pass

    def close(self) -> None:
        """Watch no longer."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class FileWatch(_Watch):
    """Tells when one file is written to, moved or deleted."""

    def __init__(self, path: str) -> None:
        super().__init__(path, _IN_MODIFY | _IN_ATTRIB | _IN_MOVE_SELF)


class DirectoryWatch(_Watch):
    """Tells when a name appears in a directory or vanishes from it."""

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
    mask = ctypes.c_uint32(events)
    if libc.inotify_add_watch(fd, os.fsencode(path), mask) < 0:
        os.close(fd)
        return -1
    return fd
