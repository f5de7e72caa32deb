"""Files of this machine.

Nothing is waited for: a FIFO or device in the way is refused.  A file that is written must be the
user's own, with one name only, since others may write to its directory (/tmp).  It is locked: two
placements of the same content have the same temporary file.

From one to another the kernel copies, or the file system shares blocks.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Iterator

from condor_pydagman.data_requests.faults import Fault, FaultKind, no_file
from condor_pydagman.data_requests.urls import Url
from condor_pydagman.placement.endpoints.disk_faults import reading, writing
from condor_pydagman.placement.endpoints.endpoint import EMPTY, NO_FILE, Closing, Entry
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


_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY
_WRITE = os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY
_OWNER = stat.S_IRUSR | stat.S_IWUSR


class LocalFiles(Closing):
    """An `Endpoint` for local disks."""

    can_list = can_append = can_rename = True
    appears_whole = False

    def look(self, url: Url) -> Entry | None:
        """See `Endpoint`."""
        try:
            with reading(url.path):
                return entry("", os.stat(url.path))
        except Fault as fault:
            if fault.kind is FaultKind.MISSING and not fault.transient:
                return None
            raise

    def files_below(self, url: Url, *, deep: bool = True) -> Iterator[Entry]:
        """See `Endpoint`."""
        root = url.path.rstrip("/") or "/"
        waiting = [""]
        while waiting:
            directory = waiting.pop()
            path = os.path.join(root, directory)
            with reading(path), os.scandir(path) as entries:
                found = sorted(entries, key=lambda one: one.name)
            if not found:
                self.leaves_out(directory, EMPTY)
            for one in found:
                relative = os.path.join(directory, one.name)
                if one.is_dir(follow_symlinks=False):
                    waiting += [relative] * deep
                elif one.is_file():
                    with reading(one.path):
                        yield entry(relative, one.stat())
                else:
                    self.leaves_out(relative, NO_FILE)

    def read(self, url: Url, offset: int) -> LocalReader:
        """See `Endpoint`."""
        return LocalReader(url.path, offset)

    def write(self, url: Url, offset: int, size: int | None, mode: int = 0o666) -> LocalWriter:
        """See `Endpoint`; `mode`: permissions of a new file, less the umask."""
        with writing(url.path):
            try:
                return LocalWriter(url.path, offset, mode)
            except FileNotFoundError:
                os.makedirs(os.path.dirname(url.path), exist_ok=True)
            return LocalWriter(url.path, offset, mode)

    def rename(self, url: Url, to: Url) -> None:
        """See `Endpoint`."""
        with writing(to.path):
            os.rename(url.path, to.path)

    def remove(self, url: Url) -> None:
        """See `Endpoint`."""
        with writing(url.path):
            try:
                os.unlink(url.path)
            except FileNotFoundError:
                return

    def close(self) -> None:
        """See `Endpoint`."""


def entry(path: str, found: os.stat_result) -> Entry:
    """What `stat` says of a file."""
    return Entry(path, found.st_size, stat.S_ISDIR(found.st_mode), _version(found))


def _version(found: os.stat_result) -> str:
    return f"{found.st_mtime_ns}.{found.st_size}.{found.st_ino}"


class LocalReader:
    """An open source; see `endpoint.Reader`."""

    def __init__(self, path: str, offset: int) -> None:
        self._path = path
        with reading(path):
            self.fd = os.open(path, _READ)
        try:
            with reading(path):
                found = os.fstat(self.fd)
                if stat.S_ISDIR(found.st_mode):
                    raise no_file(path)
                if not stat.S_ISREG(found.st_mode):
                    raise Fault(FaultKind.REQUEST, f"{path} is not a regular file")
                if offset:
                    os.lseek(self.fd, offset, os.SEEK_SET)
        except BaseException:
            os.close(self.fd)
            raise
        self.offset = offset
        self.size: int | None = found.st_size
        self.version = _version(found)
        self.mode = stat.S_IMODE(found.st_mode) & 0o777
        self.checksums: dict[str, str] = {}

    def readinto(self, buffer: memoryview) -> int:
        """See `endpoint.Reader`."""
        with reading(self._path):
            return os.readv(self.fd, [buffer])

    def close(self) -> None:
        """See `endpoint.Reader`; also a second time, when the number is another file's."""
        fd, self.fd = self.fd, -1
        if fd >= 0:
            with contextlib.suppress(OSError):
                os.close(fd)


class BusyFault(Fault):
    """Another placement is writing the same file."""

    def __init__(self, path: str, found: os.stat_result | None = None) -> None:
        super().__init__(
            FaultKind.DESTINATION, f"another placement is writing {path}", transient=True
        )
        self.path = path  # of the file
        # device and inode; None if it may be that of something else
        self.file = (found.st_dev, found.st_ino) if found is not None else None

    def is_over(self) -> bool:
        """Whether the other placement has ended, or has given the file its final name."""
        try:
            fd = os.open(self.path, _READ | os.O_NOFOLLOW)
        except OSError:
            return True
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True
        finally:
            os.close(fd)
        return True


class LocalWriter:
    """An open destination; see `endpoint.Writer`.

    Raises:
        Fault: another placement writes the same file (`BusyFault`).
        OSError: it can't be opened.
    """

    def __init__(self, path: str, offset: int, mode: int) -> None:
        self.path = path
        self._mode = mode
        self._made_with = 0
        # Its owner can write to it until it is whole: else nobody but root could go on with it.
        self.fd = os.open(path, _WRITE, mode | _OWNER)
        try:
            self._take(offset)
        except BaseException:
            os.close(self.fd)
            raise

    def write(self, data: memoryview) -> None:
        """See `endpoint.Writer`."""
        with writing(self.path):
            written = os.write(self.fd, data)
            while written < len(data):
                written += os.write(self.fd, data[written:])

    def finish(self, *, synchronize: bool = False) -> None:
        """All is written, and is checked: what the disk has to say about it is raised now, before
        the file gets its final name.

        Args:
            synchronize: wait until it is on the disk.

        Raises:
            Fault: it has lost its name: something else would get the final one.
        """
        with writing(self.path):
            if not has_name(os.fstat(self.fd), self.path):
                reason = f"{self.path} was removed or replaced while it was written"
                raise Fault(FaultKind.DESTINATION, reason, transient=True)
            if synchronize:
                os.fsync(self.fd)
            else:
                os.close(
                    os.dup(self.fd)
                )  # NFS writes, and finds a full disk, when a file is closed

    def commit(self) -> None:
        """See `endpoint.Writer`; the lock ends here."""
        with writing(self.path):
            if self._made_with & ~self._mode:  # the umask took its share when the file was made
                with contextlib.suppress(OSError):  # not every file system knows modes
                    os.fchmod(self.fd, self._made_with & self._mode)
            self._close()

    def abort(self) -> None:
        """See `endpoint.Writer`; an empty file is removed."""
        with contextlib.suppress(OSError):
            if not os.fstat(self.fd).st_size:
                os.unlink(self.path)
        with contextlib.suppress(OSError):
            self._close()

    def _close(self) -> None:
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)

    def _take(self, offset: int) -> None:
        is_locked = _lock(self.fd)
        # Whoever had the lock may have changed it, or given it its final name.
        found = os.fstat(self.fd)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            raise OSError(errno.EPERM, "somebody else has put a file there; move it away")
        if found.st_nlink > 1:  # it has its final name too, or is another file of the user's
            os.unlink(self.path)
            raise BusyFault(self.path)
        if not is_locked or not has_name(found, self.path) or found.st_size < offset:
            raise BusyFault(self.path, found)
        self._made_with = stat.S_IMODE(found.st_mode)
        if found.st_size > offset:
            os.ftruncate(self.fd, offset)
        if offset:
            os.lseek(self.fd, offset, os.SEEK_SET)


def _lock(fd: int) -> bool:
    """Lock a file, if the file system has locks; False if another placement has it."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS):
            raise
    return True


def has_name(found: os.stat_result, path: str) -> bool:
    """Whether a file is what is at a path."""
    try:
        return os.path.samestat(found, os.lstat(path))
    except FileNotFoundError:
        return False


def mode_of(destination: str) -> int:
    """Mode of what has the name of a file that is to be made; 0 if nothing has it.

    Raises:
        Fault: a device that is replaced by a file is one that the machine lacks.
    """
    with writing(destination):
        try:
            mode = os.lstat(destination).st_mode
        except FileNotFoundError:
            return 0
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)):
        raise Fault(FaultKind.DESTINATION, f"{destination} is not a regular file")
    return mode
