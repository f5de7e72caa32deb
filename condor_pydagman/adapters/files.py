"""Files: read safely, replaced atomically, locked for one DAGMan.

A file of DAGMan's is replaced by write, fsync, rename: a reader sees the whole old or the whole new
file, and a full disk leaves the old one.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import pwd
import re
import stat
import struct
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import BinaryIO

import condor_pydagman
from condor_pydagman.errors import FileError, is_machine_error
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.names import DagPaths

# Opens files whose names others can predict: logs, the lock file, rescue files.
#
# In a directory that others may write to (/tmp, a scratch disk) somebody may have made a file or
# link of that name.  The rules are those of the kernel's protected_symlinks, protected_hardlinks,
# protected_regular and protected_fifos, which not every system enables:
#
# - A symbolic link is followed if it is the user's own or root's (users move their logs to another
#   disk with one), but no file is made through it.  To read, any link is followed in a directory
#   that not everybody may write to.
# - In a directory that everybody may write to, refused are: a file or link with a hard link; a file
#   that is mounted there (whoever made the file system chooses the owners of its files); and, if
#   the sticky bit is set, a file of another user other than root.
# - A FIFO, a socket or a block device is always refused.
# - Nothing is read back from /proc, where root owns files with text that any user chooses.
#
# The checks are made on the open descriptor, not on the name.  A directory that only a group may
# write to is trusted, as people share DAGs in such directories.  Directories that are writable by
# all and not sticky are not checked for owners: there anybody could replace the DAG itself.

_HARD_LINK = "has a second name (a hard link)"
OVERFLOW_UID = 65534  # the kernel's number for unmapped users in a user namespace; `nobody`
MAX_LINKS = 20  # in a chain; also tries to open a file that others make and delete


def open_to_append(path: str, flags: int, mode: int = 0o644) -> int:
    """Open a log, to append to it.

    Raises:
        OSError: it can't be opened, or is refused.
    """
    return _opened(path, flags, mode, links=True)


def open_to_read(path: str) -> int:
    """Open a file of an earlier run, known by its name alone, to read it back.

    Raises:
        OSError: it can't be opened, or is refused.
    """
    fd = _opened(path, os.O_RDONLY, 0, links=True)
    with _closed_on_error(fd):
        if os.fstat(fd).st_dev == os.stat("/proc").st_dev:
            raise OSError(errno.EPERM, "it lies in /proc, where DAGMan keeps nothing; move it away")
    return fd


def open_own(path: str, flags: int, mode: int = 0o644) -> int:
    """As `open_to_append`, but no link is followed: for files that nobody has a reason to link.

    Raises:
        OSError: it can't be opened, or is refused.
    """
    return _opened(path, flags, mode, links=False)


def _opened(path: str, flags: int, mode: int, *, links: bool) -> int:
    creates, cuts = flags & os.O_CREAT, flags & os.O_TRUNC
    flags &= ~(os.O_CREAT | os.O_TRUNC)
    # O_NONBLOCK: a FIFO must not make us wait for its other end
    flags |= os.O_NONBLOCK | os.O_NOFOLLOW
    for _ in range(MAX_LINKS):
        try:
            fd = os.open(path, flags)
        except FileNotFoundError:
            if not creates:
                raise
            with contextlib.suppress(FileExistsError):  # another process has just made it
                return os.open(path, flags | os.O_CREAT | os.O_EXCL, mode)
            continue
        except OSError as error:
            if error.errno != errno.ELOOP or not links:
                raise
            reads = flags & os.O_ACCMODE == os.O_RDONLY
            path, creates = _link_target(path, strict=not reads), 0
            if path.startswith("/proc/"):  # /dev/stdout, say: only the kernel makes links there
                flags &= ~os.O_NOFOLLOW
            continue
        with _closed_on_error(fd):
            if not path.startswith("/proc/"):  # made by the kernel: a pipe is DAGMan's own output
                refuse_planted(fd, path)
            if cuts:
                os.ftruncate(fd, 0)
        return fd
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _link_target(path: str, *, strict: bool) -> str:
    """Target of a symbolic link.  If not `strict`, any owner will do in a directory that others may
    not write to."""
    with closed_at_end(os.open(path, os.O_PATH | os.O_NOFOLLOW)) as fd:
        found, is_open = os.fstat(fd), _is_writable_by_all(path)
        if _is_foreign(fd) and (strict or is_open):
            raise _refusal(f"is a symbolic link that belongs to user {found.st_uid}", is_open)
        if found.st_nlink > 1 and is_open:  # the user's own, from elsewhere
            raise _refusal(f"is a symbolic link that {_HARD_LINK}")
        return os.path.join(os.path.dirname(path), os.readlink("", dir_fd=fd))


def refuse_planted(fd: int, path: str) -> None:
    """Refuse a file that somebody else may have made under this name; `fd` is the open file.

    Raises:
        OSError: with a reason that tells what to do.
    """
    found = os.fstat(fd)
    if stat.S_ISCHR(found.st_mode):
        return  # /dev/null, a terminal
    if not stat.S_ISREG(found.st_mode):
        code = errno.EISDIR if stat.S_ISDIR(found.st_mode) else errno.EINVAL
        raise OSError(code, "it is not a regular file; move it away")
    if not _is_writable_by_all(path):
        return
    if _is_foreign(fd) and _is_writable_by_all(path, stat.S_ISVTX):
        raise _refusal(f"belongs to user {found.st_uid}")
    if found.st_nlink > 1:
        raise _refusal(_HARD_LINK)
    if _is_mounted(fd, path):
        raise _refusal("is mounted there")


def _refusal(what: str, is_open: bool = True) -> OSError:
    where = ", in a directory that everybody may write to" if is_open else ""
    reason = f"it {what}{where}: it may be somebody else's trap"
    return OSError(errno.EPERM, f"{reason}; move it away, or use another directory")


def is_own(fd: int) -> bool:
    """Whether an open file (O_PATH suffices) belongs to the user."""
    return os.fstat(fd).st_uid == os.geteuid() and not _is_foreign(fd)


def _is_foreign(fd: int) -> bool:
    """Whether an open file (O_PATH suffices) belongs to neither the user nor root.

    In a user namespace all unmapped users have one number, and a process can have the same: a
    personal pool that root starts runs so.
    """
    found = os.fstat(fd)
    if found.st_uid != OVERFLOW_UID or os.geteuid() != OVERFLOW_UID:
        return found.st_uid not in (0, os.geteuid())
    flags = fcntl.fcntl(fd, fcntl.F_GETFL)
    try:  # only the owner may do this
        if flags & os.O_PATH:
            os.utime(f"/proc/self/fd/{fd}", ns=(found.st_atime_ns, found.st_mtime_ns))
        else:
            fcntl.fcntl(fd, fcntl.F_SETFL, flags | os.O_NOATIME)
            fcntl.fcntl(fd, fcntl.F_SETFL, flags)
    except PermissionError:
        return True
    return False


def _is_mounted(fd: int, path: str) -> bool:
    """Whether an open file has a mount of its own.  Device numbers do not show that: on an overlay
    file system those of a file and its directory differ."""
    how = os.O_PATH | os.O_DIRECTORY
    with closed_at_end(os.open(os.path.dirname(path) or ".", how)) as directory:
        return _mount(fd) != _mount(directory)


def _mount(fd: int) -> bytes:
    """The kernel's number of the mount that an open file is on; empty if unknown."""
    try:
        with open(f"/proc/self/fdinfo/{fd}", "rb") as file:
            return b"".join(line for line in file if line.startswith(b"mnt_id:"))
    except OSError:
        return b""


def refuse_planted_directory(path: str) -> None:
    """Refuse a directory, or a link, of another user.

    Raises:
        OSError: with a reason that tells what to do.
    """
    with closed_at_end(os.open(path, os.O_PATH | os.O_NOFOLLOW)) as fd:
        refuse_foreign(fd, path)


def refuse_foreign(fd: int, path: str) -> None:
    """The same for an open one.

    Raises:
        OSError: with a reason that tells what to do.
    """
    if _is_writable_by_all(path) and _is_foreign(fd):
        raise _refusal(f"belongs to user {os.fstat(fd).st_uid}")


def _is_writable_by_all(path: str, sticky: int = 0) -> bool:
    directory = os.stat(os.path.dirname(path) or ".")
    return directory.st_mode & (stat.S_IWOTH | sticky) == stat.S_IWOTH | sticky


@contextlib.contextmanager
def closed_at_end(fd: int) -> Iterator[int]:
    """A descriptor that is closed at the end of a `with` block."""
    try:
        yield fd
    finally:
        os.close(fd)


@contextlib.contextmanager
def _closed_on_error(fd: int) -> Iterator[None]:
    try:
        yield
    except BaseException:
        os.close(fd)
        raise


BLOCK_BYTES = 1 << 18  # bytes
MAX_LINE_BYTES = 1 << 27  # bytes; longer ones come in pieces, and are refused

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL  # which follows no link
_ADD = os.O_WRONLY | os.O_CREAT | os.O_APPEND


def read_text(path: str, *, own: bool = False) -> str:
    """The whole of a text file; bytes that are not UTF-8 are kept as surrogates.

    `own`: DAGMan takes it for a file of its own because of its name alone, see `open_to_read`.

    Raises:
        FileError: it is no ordinary file (a FIFO, a device).
        OSError: it can't be opened or read, or is a directory.
    """
    with _ordinary(open_to_read(path), path) if own else open_ordinary(path) as file:
        return file.read().decode("utf-8", "surrogateescape")


def text_of(path: str, what: str) -> str:
    """As `read_text`, of a file that a person has named.

    Raises:
        FileError: it can't be read; the message calls it `what`.
    """
    try:
        return read_text(path)
    except OSError as error:
        raise FileError(f"can't read the {what} {path}: {error.strerror}") from None


def open_ordinary(path: str) -> BinaryIO:
    """Open a file, which somebody else may have made, for reading.

    Raises:
        FileError: it is no ordinary file (a FIFO, a device).
        OSError: it can't be opened, or is a directory.
    """
    # O_NONBLOCK: opening a FIFO must not wait for a writer
    return _ordinary(os.open(path, os.O_RDONLY | os.O_NONBLOCK), path)


def refuse_secret(fd: int, path: str, reader: tuple[int, int]) -> None:
    """Refuse an open file that user `reader` can't read by the modes of it and its directories.

    Raises:
        PermissionError: that user can't.
    """
    found, above = os.fstat(fd), os.readlink(f"/proc/self/fd/{fd}")
    if reader[0] in (found.st_uid, os.geteuid()):
        return
    allowed = found.st_mode & _bit(stat.S_IROTH, found, reader)
    while allowed and above != "/":
        above = os.path.dirname(above)
        directory = os.stat(above)
        owns = directory.st_uid == reader[0]
        allowed = owns or directory.st_mode & _bit(stat.S_IXOTH, directory, reader)
    if not allowed:
        raise PermissionError(errno.EACCES, "the owner of the DAG may not read it", path)


def _bit(of_others: int, found: os.stat_result, reader: tuple[int, int]) -> int:
    return of_others << 3 if found.st_gid in _groups_of(*reader) else of_others


@lru_cache(maxsize=64)
def _groups_of(user: int, group: int) -> frozenset[int]:
    try:
        return frozenset(os.getgrouplist(pwd.getpwuid(user).pw_name, group))
    except (KeyError, OSError):  # it has no name here
        return frozenset((group,))


def _ordinary(fd: int, path: str) -> BinaryIO:
    mode = os.fstat(fd).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(fd, "rb")
    os.close(fd)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    raise FileError(f"{path} is not a regular file")


@contextlib.contextmanager
def working_directory(directory: str) -> Iterator[None]:
    """Change the working directory within a `with` block; '' changes nothing.

    Only for a process of one thread.

    Raises:
        OSError: it can't be entered.
    """
    if not directory:
        yield
        return
    home = os.open(".", os.O_RDONLY)
    try:
        os.chdir(directory)
        yield
    finally:
        os.fchdir(home)
        os.close(home)


class DagFiles:
    """Reads DAG files, some several times; a file must not change in between.

    Args:
        trusted: whether the owner of the first file may name files that he can't read: whoever
            runs a DAG does what he wants.
    """

    def __init__(self, *, trusted: bool = False) -> None:
        self._known: dict[str, tuple[int, int, int]] = {}
        self._trusted = trusted
        self._owner: tuple[int, int] | None = None

    def read(self, path: str) -> Iterator[str]:
        """As `read_text`, in blocks of whole lines, so that a large file is never in memory at
        once.

        The file is opened, and refused if need be, before the first block is asked for.

        Raises:
            FileError: it is no ordinary file, or has changed since it was first read.
            OSError: it can't be opened or read.
        """
        with open_ordinary(path) as file:
            now = os.fstat(file.fileno())
            self._owner = self._owner or (now.st_uid, now.st_gid)
            if not self._trusted:
                refuse_secret(file.fileno(), path, self._owner)
            if self._known.setdefault(path, _identity(now)) != _identity(now):
                raise FileError(f"{path} was changed while it was being read")
            first = file.read(BLOCK_BYTES)
            if len(first) < BLOCK_BYTES:
                return iter((first.decode("utf-8", "surrogateescape"),))
            # Splices may nest deeper than there are descriptors, so the file is closed between
            # blocks.
            return _blocks(path, first, now)


def _identity(now: os.stat_result) -> tuple[int, int, int]:
    return now.st_ino, now.st_mtime_ns, now.st_size


def _blocks(path: str, block: bytes, known: os.stat_result) -> Iterator[str]:
    offset = len(block)
    while block:
        end = block.rfind(b"\n") + 1
        if not end and len(block) <= MAX_LINE_BYTES:
            more = _read_at(path, offset, max(BLOCK_BYTES, len(block)), known)
            offset += len(more)
            block += more
            if more:
                continue
        end = end or len(block)
        yield block[:end].decode("utf-8", "surrogateescape")
        more = _read_at(path, offset, BLOCK_BYTES, known)
        offset += len(more)
        block = block[end:] + more


def _read_at(path: str, offset: int, size: int, known: os.stat_result) -> bytes:
    with open_ordinary(path) as file:
        now = os.fstat(file.fileno())
        if _identity(now) != _identity(known):
            raise FileError(f"{path} was changed while it was being read")
        file.seek(offset)
        return file.read(size)


def replace(
    path: str,
    chunks: Iterable[str],
    *,
    durable: bool = True,
    keep_old: bool = False,
    keep_mode: bool = False,
) -> None:
    """Replace a file, or leave the old one as it was.

    `durable`: wait until the file is on the disk; not for files that are rewritten often.
    `keep_old`: rename an existing file to `.old` first.  `keep_mode`: keep the permissions of an
    existing file of the user's (stock writes into the file itself).

    Raises:
        FileError: the message names the file and the reason.
    """
    temporary = ""
    try:
        fd, temporary = _temporary(path)
        with os.fdopen(fd, "w", encoding="utf-8", errors="surrogateescape") as file:
            if keep_mode:
                _copy_mode(fd, path)
            file.writelines(chunks)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        if keep_old and os.path.lexists(path):
            os.replace(path, path + ".old")
        os.replace(temporary, path)
        if durable:
            _sync_directory(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise FileError(
            f"can't write {path}: {error.strerror or error}", transient=is_machine_error(error)
        ) from None


def _temporary(path: str) -> tuple[int, str]:
    """A new file beside `path`, and its name.

    Usually that is `path` and `.tmp`, so that the next process finds and removes what a killed one
    has left, which has no lock.  It is another name while a second process writes the same file, or
    if somebody else has made a file of that name, which is never written to.
    """
    usual = path + ".tmp"
    if _is_leftover(usual):
        with contextlib.suppress(OSError):
            os.unlink(usual)
    with contextlib.suppress(FileExistsError):
        fd = os.open(usual, _NEW, 0o644)
        if _is_ours_alone(fd, usual, new=True):
            return fd, usual
        os.close(fd)
    other = f"{path}.{os.urandom(8).hex()}.tmp"
    return os.open(other, _NEW, 0o644), other


def _is_leftover(temporary: str) -> bool:
    """Whether this is an unlocked file that a process of the user's has left behind."""
    try:  # opened to write, as NFS locks need that
        fd = os.open(temporary, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    with closed_at_end(fd):
        info = os.fstat(fd)
        plain = stat.S_ISREG(info.st_mode) and info.st_uid == os.geteuid()
        return plain and _is_ours_alone(fd, temporary)


def _is_ours_alone(fd: int, path: str, *, new: bool = False) -> bool:
    """Lock an open file; False if another process holds the lock or has replaced the file.

    On a file system without locks the answer is `new`: no process takes such a file for a leftover.
    """
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return new
    with contextlib.suppress(OSError):
        return os.path.samestat(os.fstat(fd), os.lstat(path))
    return False


def _copy_mode(fd: int, path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        old = os.lstat(path)  # one of another user may give that user access
        if stat.S_ISREG(old.st_mode) and old.st_uid == os.geteuid():
            os.fchmod(fd, old.st_mode & 0o777)


def make_directory(path: str, mode: int = 0o755) -> None:
    """Make a directory and its parents, if they do not exist; `mode` is that of a new one.

    Raises:
        FileError: the message names the directory and the reason.
    """
    try:
        os.makedirs(path or ".", mode=mode, exist_ok=True)
        refuse_planted_directory(path or ".")
    except OSError as error:
        raise FileError(f"can't make the directory {path}: {error.strerror}") from None


def append_lines(path: str, lines: Iterable[str]) -> None:
    """Append lines to a log file in one write, all or none.

    Raises:
        FileError: the message names the file and the reason.
    """
    data = "".join(lines).encode("utf-8", "surrogateescape")
    try:
        with closed_at_end(open_to_append(path, _ADD)) as fd:
            size = os.fstat(fd).st_size
            if os.write(fd, data) < len(data):
                os.ftruncate(fd, size)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError as error:
        raise FileError(f"can't write {path}: {error.strerror or error}") from None


def rescue_numbers(paths: DagPaths) -> list[int]:
    """Numbers of the rescue files that exist, ascending; the first is 1."""
    stem = paths.rescue(0)[: -len("000")]
    directory, base = os.path.split(stem)
    pattern = re.compile(re.escape(base) + r"(?!000$)([0-9]{3}|[1-9][0-9]{3,})")
    try:
        names = os.listdir(directory or ".")
    except OSError:
        return []
    matches = (pattern.fullmatch(name) for name in names)
    return sorted(int(match.group(1)) for match in matches if match)


def rename_rescue_file(rescue: str) -> None:
    """Rename a rescue file to `.old`.

    Raises:
        FileError: the message is stock's, and names the file.
    """
    try:
        os.replace(rescue, rescue + ".old")
    except OSError as error:
        reason = error.strerror or error
        raise FileError(f"ERROR: unable to rename old rescue file {rescue}: {reason}") from None


def _sync_directory(path: str) -> None:
    how = os.O_RDONLY | os.O_DIRECTORY
    with closed_at_end(os.open(os.path.dirname(path) or ".", how)) as fd:
        os.fsync(fd)


def _link_into_place(temporary: str, path: str) -> None:
    """Rename a new file to its final name, unless that exists; OSError otherwise."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if os.path.lexists(path):
            raise
        os.rename(temporary, path)
    else:
        with contextlib.suppress(OSError):
            os.unlink(temporary)


def interrupted_run(lock: str) -> int | None:
    """Number of the rescue file (0: none) that an interrupted run began with, by its lock file.

    None if there is no lock file, or if it has no number, as that of stock DAGMan.
    """
    try:
        fd = open_own(lock, os.O_RDONLY)
        with os.fdopen(fd, "rb") as file:
            found = re.fullmatch(rb"\d+\nrescue (\d{1,9})\n", file.read(64) or b"")
    except OSError:
        return None
    return int(found.group(1)) if found else None


class LockFile:
    """The lock file: a DAGMan runs this DAG, or, if it is found at a start, recovery is needed.

    It contains the cluster of the DAGMan job.  The process holds a POSIX record lock on it, which
    the kernel releases when the process ends, so that pid reuse and reboots do no harm.  Stock
    DAGMan uses the same file and lock.  A second line, `rescue N`, which stock does not write, is
    the rescue file that the run began with: recovery must not read one that the run itself wrote
    before a crash.

    An empty file belongs to a DAGMan that ended before its run began: nothing is to be recovered,
    unless the nodes log has events of a run of this DAGMan job; then the file was emptied later.

    Args:
        ran: whether the nodes log has such events; called if the lock file is empty.
    """

    def __init__(self, path: str, ran: Callable[[], bool] = lambda: False) -> None:
        self.path = path
        self.found_file = False
        self._ran = ran
        self._fd = -1

    def has_begun(self) -> bool:
        """Whether a run began and did not end, as far as can be known without the lock."""
        try:
            there = os.lstat(self.path)
        except OSError:
            return False
        return stat.S_ISREG(there.st_mode) and (there.st_size > 0 or self._ran())

    def acquire(self) -> int | None:
        """Acquire the lock; `found_file` tells whether an earlier run left the file behind.

        Returns None, or the cluster in the file if another process holds the lock (0 if the file
        names none).

        Raises:
            FileError: the file can't be made.
        """
        there = os.path.lexists(self.path)
        try:
            while True:
                self._fd = open_own(self.path, os.O_RDWR | os.O_CREAT, 0o600)
                try:
                    fcntl.lockf(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    holder = _cluster(self._fd)
                    self._close()
                    return holder
                if self._is_in_place():
                    break
                self._close()  # the holder has just removed it
            self.found_file = bool(os.read(self._fd, 1)) or (there and self._ran())
        except OSError as error:
            raise self._write_error(error) from None
        return None

    def adopt(self, fd: int) -> None:
        """Go on with the lock that this process has held already, open as `fd`."""
        self._fd, self.found_file = fd, True

    def fileno(self) -> int:
        """The descriptor of the file, which must stay open; -1 if there is none."""
        return self._fd

    def write(self, cluster: int, rescue: int = 0) -> None:
        """Write the cluster, and the number of the rescue file that the run began with (0: none).

        From now on a start that finds the file runs in recovery mode.

        Raises:
            FileError: it can't be written.
        """
        try:
            text = b"%d\nrescue %d\n" % (cluster, rescue)
            os.pwrite(self._fd, text, 0)
            os.ftruncate(self._fd, len(text))
            os.fsync(self._fd)
            with contextlib.suppress(OSError):  # not every file system supports it
                _sync_directory(self.path)
        except OSError as error:
            raise self._write_error(error) from None

    def holder_cluster(self) -> int:
        """The cluster in the file, 0 if none; the lock must have been acquired."""
        return _cluster(self._fd)

    def restore(self) -> bool:
        """Make the file again if somebody has deleted it; returns whether it was made.

        Without it, or with an empty one, the next start would not recover but run everything a
        second time; so the new file is renamed into place when it is complete and locked.
        """
        if self._fd < 0 or os.path.lexists(self.path):
            return False
        temporary = f"{self.path}.{os.urandom(8).hex()}.tmp"
        fd = -1
        try:
            text = os.pread(self._fd, 64, 0)
            fd = os.open(temporary, _NEW & ~os.O_WRONLY | os.O_RDWR, 0o600)
            fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.write(fd, text) != len(text):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(fd)
            _link_into_place(temporary, self.path)
        except OSError:  # the next call tries again
            if fd >= 0:
                os.close(fd)
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
            return False
        self._close()
        self._fd = fd
        with contextlib.suppress(OSError):
            _sync_directory(self.path)
        return True

    def remove(self) -> None:
        """Remove the file: the run has ended and needs no recovery."""
        if self._fd >= 0:
            with contextlib.suppress(OSError):
                if self._is_in_place():
                    os.unlink(self.path)
            self._close()

    def release(self) -> None:
        """Release the lock; remove the file only if this process made it."""
        if self.found_file:
            self._close()
        else:
            self.remove()

    def _write_error(self, error: OSError) -> FileError:
        text = f"can't write lock file {self.path}: {error.strerror}"
        return FileError(text, transient=is_machine_error(error))

    def _is_in_place(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._fd), os.lstat(self.path))
        except FileNotFoundError:
            return False

    def _close(self) -> None:
        os.close(self._fd)
        self._fd = -1


# Finds the holder of a DAG's lock file without locking it: condor_submit_dag must not touch the
# files of a DAG that runs.
#
# DAGMan, stock or ours, holds a POSIX record lock on the file for as long as it lives (`LockFile`).
# The kernel (for NFS the server's) knows the holder; a file that a crash has left behind has none.

_FLOCK = struct.Struct("hhqqi4x")  # type, whence, start, length, pid


class Holder(NamedTuple):
    """Who holds a lock."""

    cluster: int  # of the DAGMan job, by the file; 0 if it has none
    pid: int  # of the process; 0 or less if it is on another machine or in another namespace


def living_holder(path: str) -> Holder | None:
    """The process that holds the lock; None if there is none, or if that is unknown.

    A process that may hold the lock itself must not call this: closing the file would release it.
    """
    try:
        fd = open_own(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        asked = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind, _, _, _, pid = _FLOCK.unpack(fcntl.fcntl(fd, fcntl.F_GETLK, asked))
        if kind == fcntl.F_UNLCK:
            return None
        return Holder(_cluster(fd), pid)
    except OSError:
        return None
    finally:
        os.close(fd)


def named_cluster(path: str) -> int:
    """The cluster of the DAGMan job in the lock file, 0 if there is none or it can't be read.

    That job may have ended.  A process that may hold the lock itself must not call this.
    """
    try:
        with closed_at_end(open_own(path, os.O_RDONLY)) as fd:
            return _cluster(fd)
    except OSError:
        return 0


def _cluster(fd: int) -> int:
    number = os.pread(fd, 32, 0).partition(b"\n")[0].strip()
    return int(number) if number.isdigit() else 0


class ProgramFiles:
    """The files of this program as they are now, which an upgrade may replace while a DAGMan runs.

    A DAGMan loads what its DAG needs when it starts.  What a person asks of it for the first time
    is loaded then, unless the files are of another version: parts of two versions do not fit.
    """

    def __init__(self) -> None:
        self._identity = _program_identity()

    def check(self, module: str) -> None:
        """Before a module is imported.

        Raises:
            FileError: it has not been imported, and the files have been replaced.
        """
        if module not in sys.modules and _program_identity() != self._identity:
            raise FileError(
                "the files of this program have been replaced since DAGMan was started, and what"
                " this needs has not been loaded: hold and release DAGMan's job (condor_hold,"
                " condor_release): the new version goes on with the DAG after the cool-down"
            )


def _program_identity() -> tuple[int, ...]:
    """What another version of the file that is always replaced does not share; () if it is gone."""
    try:
        found = os.stat(condor_pydagman.__file__)
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
