"""Opening files by names that anybody can know: logs, the lock file, rescue files.

In a directory that others may write to (/tmp, a scratch disk) somebody may have put something
there before us.  The rules are those of the kernel's protected_symlinks, protected_hardlinks,
protected_regular and protected_fifos, which are not in force everywhere:

- a symbolic link is followed if it is the user's own or root's (users do move their logs to another
  disk with one), and no file is made through it; to read, any is followed in a directory that is
  not open to all;
- in a directory that everybody may write to, a file or link that has a second name is not taken for
  DAGMan's own, nor is one that is mounted there (a file system of somebody's own says of its files
  what he likes), nor, if the sticky bit is set, is one of somebody else's (root's excepted);
- a FIFO, a socket or a block device never is;
- nothing is read back from /proc, where root owns files with text that anybody chooses.

What is looked at is what was opened, not what stood under the name a moment before.  A directory
that only a group may write to is trusted as its group is: people share DAGs so.  Small sites do
with directories that are open to all and not sticky; there anybody could replace the DAG itself.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Iterator

_SECOND_NAME = "has a second name (a hard link)"
_UNKNOWN = 65534  # the kernel's number for users that a user namespace does not know; `nobody`
LINKS_MAX = 20  # that lead to one another, and tries to open a file that comes and goes


def open_to_add(path: str, flags: int, mode: int = 0o644) -> int:
    """Open a file that is added to by name: a log.

    Raises:
        OSError: it can't be opened, or is not to be.
    """
    return _opened(path, flags, mode, links=True)


def open_to_read(path: str) -> int:
    """Open a file that is read back because of its name alone: what an earlier run has written.

    Raises:
        OSError: it can't be opened, or is not to be.
    """
    fd = _opened(path, os.O_RDONLY, 0, links=True)
    with _closed_on_error(fd):
        if os.fstat(fd).st_dev == os.stat("/proc").st_dev:
            raise OSError(errno.EPERM, "it lies in /proc, where DAGMan keeps nothing; move it away")
    return fd


def open_own(path: str, flags: int, mode: int = 0o644) -> int:
    """As `open_to_add`, for what nobody has a reason to link: no link is followed.

    Raises:
        OSError: it can't be opened, or is not to be.
    """
    return _opened(path, flags, mode, links=False)


def _opened(path: str, flags: int, mode: int, *, links: bool) -> int:
    creates, cuts = flags & os.O_CREAT, flags & os.O_TRUNC
    flags &= ~(os.O_CREAT | os.O_TRUNC)
    # O_NONBLOCK: a FIFO must not make us wait for its other end
    flags |= os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
    for _ in range(LINKS_MAX):
        try:
            fd = os.open(path, flags)
        except FileNotFoundError:
            if not creates:
                raise
            with contextlib.suppress(FileExistsError):  # somebody was quicker
                return os.open(path, flags | os.O_CREAT | os.O_EXCL, mode)
            continue
        except OSError as error:
            if error.errno != errno.ELOOP or not links:
                raise
            reads = flags & os.O_ACCMODE == os.O_RDONLY
            path, creates = _behind(path, strict=not reads), 0
            if path.startswith("/proc/"):  # /dev/stdout, say: only the kernel makes links there
                flags &= ~os.O_NOFOLLOW
            continue
        with _closed_on_error(fd):
            if not path.startswith("/proc/"):  # nobody plants there: a pipe is our own output
                refuse_planted(fd, path)
            if cuts:
                os.ftruncate(fd, 0)
        return fd
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _behind(path: str, *, strict: bool) -> str:
    """Where a symbolic link leads.  If not `strict`, those in a closed directory are anybody's."""
    fd = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        found, is_open = os.fstat(fd), _is_open_to_all(path)
        if _is_another_s(fd) and (strict or is_open):
            raise _trap(f"is a symbolic link that belongs to user {found.st_uid}", is_open)
        if found.st_nlink > 1 and is_open:  # the user's own, from elsewhere
            raise _trap(f"is a symbolic link that {_SECOND_NAME}")
        return os.path.join(os.path.dirname(path), os.readlink("", dir_fd=fd))
    finally:
        os.close(fd)


def refuse_planted(fd: int, path: str) -> None:
    """Refuse what somebody else may have put under this name; `fd` is what was opened by it.

    Raises:
        OSError: with a reason that tells what to do.
    """
    found = os.fstat(fd)
    if stat.S_ISCHR(found.st_mode):
        return  # /dev/null, a terminal
    if not stat.S_ISREG(found.st_mode):
        code = errno.EISDIR if stat.S_ISDIR(found.st_mode) else errno.EINVAL
        raise OSError(code, "it is no ordinary file; move it away")
    if not _is_open_to_all(path):
        return
    if _is_another_s(fd) and _is_open_to_all(path, stat.S_ISVTX):
        raise _trap(f"belongs to user {found.st_uid}")
    if found.st_nlink > 1:
        raise _trap(_SECOND_NAME)
    if _is_mounted(fd, path):
        raise _trap("is mounted there")


def _trap(what: str, is_open: bool = True) -> OSError:
    where = ", in a directory that everybody may write to" if is_open else ""
    reason = f"it {what}{where}: it may be somebody else's trap"
    return OSError(errno.EPERM, f"{reason}; move it away, or use another directory")


def _is_another_s(fd: int) -> bool:
    """Whether what was opened, if only by O_PATH, is somebody else's than the user's and root's.

    In a user namespace all users that it does not know have one number, and a process can have the
    same: root's own personal pool runs so.
    """
    found = os.fstat(fd)
    if found.st_uid != _UNKNOWN or os.geteuid() != _UNKNOWN:
        return found.st_uid not in (0, os.geteuid())
    flags = fcntl.fcntl(fd, fcntl.F_GETFL)
    try:  # what nobody but the owner may do
        if flags & os.O_PATH:
            os.utime(f"/proc/self/fd/{fd}", ns=(found.st_atime_ns, found.st_mtime_ns))
        else:
            fcntl.fcntl(fd, fcntl.F_SETFL, flags | os.O_NOATIME)
            fcntl.fcntl(fd, fcntl.F_SETFL, flags)
    except PermissionError:
        return True
    return False


def _is_mounted(fd: int, path: str) -> bool:
    """Whether an open file has a mount of its own.  Device numbers do not tell: on an overlay those
    of a file and its directory differ."""
    directory = os.open(os.path.dirname(path) or ".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return _mount(fd) != _mount(directory)
    finally:
        os.close(directory)


def _mount(fd: int) -> bytes:
    """The kernel's number of the mount that an open file is on; nothing if it does not tell."""
    try:
        with open(f"/proc/self/fdinfo/{fd}", "rb") as file:
            return b"".join(line for line in file if line.startswith(b"mnt_id:"))
    except OSError:
        return b""


def refuse_planted_directory(path: str) -> None:
    """Refuse a directory that is somebody else's, or a link of theirs.

    Raises:
        OSError: with a reason that tells what to do.
    """
    fd = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if _is_open_to_all(path) and _is_another_s(fd):
            raise _trap(f"belongs to user {os.fstat(fd).st_uid}")
    finally:
        os.close(fd)


def _is_open_to_all(path: str, sticky: int = 0) -> bool:
    directory = os.stat(os.path.dirname(path) or ".")
    return directory.st_mode & (stat.S_IWOTH | sticky) == stat.S_IWOTH | sticky


@contextlib.contextmanager
def _closed_on_error(fd: int) -> Iterator[None]:
    try:
        yield
    except BaseException:
        os.close(fd)
        raise
