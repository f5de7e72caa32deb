"""Opens files whose names others can predict: logs, the lock file, rescue files.

In a directory that others may write to (/tmp, a scratch disk) somebody may have made a file or link
of that name.  The rules are those of the kernel's protected_symlinks, protected_hardlinks,
protected_regular and protected_fifos, which not every system enables:

- a symbolic link is followed if it is the user's own or root's (users move their logs to another
  disk with one), but no file is made through it; to read, any link is followed in a directory that
  not everybody may write to;
- in a directory that everybody may write to, refused are: a file or link with a hard link; a file
  that is mounted there (whoever made the file system chooses the owners of its files); and, if the
  sticky bit is set, a file of another user other than root;
- a FIFO, a socket or a block device is always refused;
- nothing is read back from /proc, where root owns files with text that any user chooses.

The checks are made on the open descriptor, not on the name.  A directory that only a group may
write to is trusted, as people share DAGs in such directories.  Directories that are writable by all
and not sticky are not checked for owners: there anybody could replace the DAG itself.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Iterator

_HARD_LINK = "has a second name (a hard link)"
_OVERFLOW_UID = 65534  # the kernel's number for unmapped users in a user namespace; `nobody`
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
    flags |= os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
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
    fd = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        found, is_open = os.fstat(fd), _is_writable_by_all(path)
        if _is_foreign(fd) and (strict or is_open):
            raise _refusal(f"is a symbolic link that belongs to user {found.st_uid}", is_open)
        if found.st_nlink > 1 and is_open:  # the user's own, from elsewhere
            raise _refusal(f"is a symbolic link that {_HARD_LINK}")
        return os.path.join(os.path.dirname(path), os.readlink("", dir_fd=fd))
    finally:
        os.close(fd)


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


def _is_foreign(fd: int) -> bool:
    """Whether an open file (O_PATH suffices) belongs to neither the user nor root.

    In a user namespace all unmapped users have one number, and a process can have the same: a
    personal pool that root starts runs so.
    """
    found = os.fstat(fd)
    if found.st_uid != _OVERFLOW_UID or os.geteuid() != _OVERFLOW_UID:
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
    directory = os.open(os.path.dirname(path) or ".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return _mount(fd) != _mount(directory)
    finally:
        os.close(directory)


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
    fd = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if _is_writable_by_all(path) and _is_foreign(fd):
            raise _refusal(f"belongs to user {os.fstat(fd).st_uid}")
    finally:
        os.close(fd)


def _is_writable_by_all(path: str, sticky: int = 0) -> bool:
    directory = os.stat(os.path.dirname(path) or ".")
    return directory.st_mode & (stat.S_IWOTH | sticky) == stat.S_IWOTH | sticky


@contextlib.contextmanager
def _closed_on_error(fd: int) -> Iterator[None]:
    try:
        yield
    except BaseException:
        os.close(fd)
        raise
