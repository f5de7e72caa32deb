"""Copies between two files of this machine: the kernel copies, or the file system shares blocks."""

from __future__ import annotations

import errno
import fcntl
import os

from condor_pydagman.placement.endpoints.disk_faults import writing
from condor_pydagman.placement.endpoints.local_files import LocalReader, LocalWriter
from condor_pydagman.placement.way import Progress

_PIECE = 64 << 20  # bytes between looks at whether the worker is to stop
_FICLONE = 0x40049409  # ioctl_ficlone(2)
_NOT_HERE = (errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EBADF, errno.EPERM)


def copy_by_kernel(reader: LocalReader, writer: LocalWriter, progress: Progress) -> bool:
    """Copy the rest of the source; False if the kernel can't, and nothing was copied.

    Raises:
        Fault: the disk is full, the worker is to stop, ...
    """
    size = reader.size or 0
    if not size:
        return False  # it may be a file that says so but is not empty, as in /proc
    if not reader.offset and size > _PIECE and _clone(reader, writer):
        progress.add(size)
        return True
    if not hasattr(os, "copy_file_range"):  # a Python made for systems with an old C library
        return False
    begun = False
    while progress.offset + progress.moved < size:
        with writing(writer.path):
            try:
                count = os.copy_file_range(reader.fd, writer.fd, _PIECE)
            except OSError as error:
                if begun or error.errno not in _NOT_HERE:
                    raise
                return False
        if not count:
            return begun  # of a file system that makes its files up, like /proc
        begun = True
        progress.add(count)
    return True


def _clone(reader: LocalReader, writer: LocalWriter) -> bool:
    try:
        fcntl.ioctl(writer.fd, _FICLONE, reader.fd)
    except OSError:
        return False
    return True
