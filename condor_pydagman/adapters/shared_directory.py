"""A directory that the processes of all users of an access point share, and files in it: one user
can lock it against all others, a file can prove that the process which made it lives, it is read
without trust in it, and it is replaced as a whole.

Anyone may make files in it, and remove only their own (the sticky bit).  Nothing in it is trusted:
a file counts for who owns it, whatever its name says.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import functools
import hashlib
import os
import pwd
import re
import stat
import struct
import time
from collections.abc import Callable, Iterator

from condor_pydagman.adapters.inotify import is_remote
from condor_pydagman.errors import FileError
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import printable
from condor_pydagman.timers import DIRECTORY_MAKING_S, FIRST_LOCK_LOOK_S, MAX_LOCK_LOOK_S

OTHER_NAME = r"(?:\.[0-9a-f]{16})?"  # what a name has behind it if its usual one was taken
MAX_ENTRIES = 20_000  # names; more of them are an attack, or a directory for something else
OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
_OLD = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK
# struct flock
_READ_LOCK, _WRITE_LOCK = (
    struct.pack("hhqqi4x", kind, os.SEEK_SET, 0, 0, 0) for kind in (fcntl.F_RDLCK, fcntl.F_WRLCK)
)
_NO_LOCK = struct.pack("h", fcntl.F_UNLCK)
# Why a file can't be opened that no living process has made; for other reasons, as too few
# descriptors, nothing can be said.
_GONE = (errno.ENOENT, errno.ELOOP, errno.EACCES, errno.ENXIO, errno.ENOTDIR)


class Usual(NamedTuple):
    """The directory that is used if the settings name none."""

    path: str  # where it is
    knob: str  # names another
    what: str  # is in it, for people


class Contents(NamedTuple):
    """What an ordinary file was when it was read."""

    user: int  # number of the user whose it is
    mode: int  # of the file
    changed: float  # when, in seconds since the epoch
    lives: bool  # whether the process does whose LiveFile it is
    data: bytes  # what it says


class Unusable(OSError):
    """Somebody keeps all others from using the directory; the text names it."""


class SharedDirectory:
    """An open directory.

    Args:
        path: absolute.
        fd: of it; closed with the object.
    """

    def __init__(self, path: str, fd: int) -> None:
        self.path = path  # where it is
        self.fd = fd  # for functions that take `dir_fd`

    def close(self) -> None:
        """Close it; the object is of no use any more."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    __del__ = close

    def names(self) -> list[str]:
        """Every name in it.

        Raises:
            Unusable: there are too many.
            OSError: it can't be read.
        """
        found = []
        # A descriptor of its own: threads that read by one share the position in the directory.
        own = os.open(".", OPEN, dir_fd=self.fd)
        try:
            with os.scandir(own) as entries:
                for entry in entries:
                    found.append(entry.name)
                    if len(found) > MAX_ENTRIES:
                        raise Unusable(f"{self.path} has more than {MAX_ENTRIES} files")
        finally:
            os.close(own)
        return found

    def is_in_place(self) -> bool:
        """Whether its path still leads to it."""
        try:
            return os.path.samestat(os.lstat(self.path), os.fstat(self.fd))
        except OSError:
            return False

    def has(self, name: str, fd: int) -> bool:
        """Whether a name is still that of an open file."""
        try:
            there = os.stat(name, dir_fd=self.fd, follow_symlinks=False)
        except OSError:
            return False
        return os.path.samestat(there, os.fstat(fd))

    def owner(self, name: str) -> int:
        """Number of the user whose file it is; -1 if it is not there or no ordinary file."""
        try:
            there = os.stat(name, dir_fd=self.fd, follow_symlinks=False)
        except OSError:
            return -1
        return there.st_uid if stat.S_ISREG(there.st_mode) else -1

    def name_of_ours(self, usual: str, ending: str = "") -> str:
        """The name of a file of this user's: the usual one, or if somebody else has taken that, one
        that nobody can foresee.  The file that there is keeps its name.

        Args:
            usual: without the ending, which all its names have.

        Raises:
            OSError: the directory can't be read, or has too many files.
        """
        form = re.compile(re.escape(usual) + OTHER_NAME + re.escape(ending))
        begun = sorted(filter(form.fullmatch, self.names()), key=lambda name: (len(name), name))
        user = os.geteuid()
        ours = (name for name in begun if self.owner(name) == user)
        middle = f".{os.urandom(8).hex()}" if usual + ending in begun else ""
        return next(ours, usual + middle + ending)

    def remove(self, name: str) -> None:
        """Remove a file, if it is there and ours."""
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=self.fd)

    def remove_own(self, name: str) -> None:
        """Remove a file if it is this user's; root leaves those of others alone."""
        if self.owner(name) == os.geteuid():
            self.remove(name)

    def try_lock(self, name: str = ".", *, make: bool = False) -> int:
        """Lock the directory itself or a file in it, against other threads, too.

        Args:
            make: the file, if it is not there.

        Returns:
            A descriptor that holds the lock until it is closed; -1 if somebody else has it.

        Raises:
            OSError: it can't be opened or locked.
        """
        how = (_OLD | os.O_CREAT) if make else (OPEN if name == "." else _LOOK)
        fd = os.open(name, how, 0o600, dir_fd=self.fd)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if self.has(name, fd):  # whoever had it may have removed it
                return fd
        except BlockingIOError:
            pass
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)
        return -1

    @contextlib.contextmanager
    def locked(
        self,
        timeout_s: float,
        wait: Callable[[float], None] = time.sleep,
        name: Callable[[], str] = lambda: ".",
    ) -> Iterator[None]:
        """Within, nobody else has the lock.

        Args:
            timeout_s: for others to give it back.
            wait: so many seconds; may raise what ends the wait.
            name: gives what is locked.

        Raises:
            Unusable: others did not give it back in time.
            OSError: it can't be opened or locked.
        """
        until, pause = time.monotonic() + timeout_s, FIRST_LOCK_LOOK_S
        while (fd := self.try_lock(name())) < 0:
            if time.monotonic() > until:
                raise Unusable(
                    f"{self.path} has been locked by another process for {timeout_s:.0f} s"
                )
            wait(spread(pause))
            pause = min(pause * 1.5, MAX_LOCK_LOOK_S)
        try:
            yield
        finally:
            os.close(fd)

    def read(self, name: str, max_bytes: int | None) -> Contents:
        """An ordinary file, of anybody's.

        Args:
            max_bytes: that are read; None: nothing is, however much it says.

        Raises:
            OSError: it can't be read, is something else, or has more bytes.
        """
        fd = os.open(name, _LOOK, dir_fd=self.fd)
        try:
            there = os.fstat(fd)
            if not stat.S_ISREG(there.st_mode):
                raise OSError(errno.ENXIO, "it is not a regular file")
            data = b""
            if max_bytes is not None:
                if there.st_size > max_bytes:
                    raise OSError(errno.EFBIG, "it is too large")
                data = os.read(fd, there.st_size)
            lock = fcntl.fcntl(fd, fcntl.F_OFD_GETLK, _READ_LOCK)
            lives = not lock.startswith(_NO_LOCK)
            return Contents(there.st_uid, there.st_mode, there.st_mtime, lives, data)
        finally:
            os.close(fd)

    def is_alive(self, name: str) -> bool:
        """Whether the process that made a LiveFile lives.

        To be asked while nobody makes files: one that is not locked was left by a process that was
        killed at once.
        """
        try:
            return self.read(name, None).lives
        except OSError as error:
            return error.errno not in _GONE

    def make(self, name: str) -> None:
        """Make an empty file, unless it is there.  By a link: nobody sees it before all can read
        it, whatever the umask is.

        Raises:
            OSError: it can't be made.
        """
        new = f"{name}.{os.urandom(8).hex()}.new"
        with self._written(new, b""), contextlib.suppress(FileExistsError):
            os.link(new, name, src_dir_fd=self.fd, dst_dir_fd=self.fd)

    def replace(self, name: str, data: bytes) -> None:
        """Replace a file as a whole, or make it, for all to read; under the lock.

        Raises:
            OSError: it can't be written; the old one is as it was.
        """
        new = self.name_of_ours(f"{name}.new")
        self.remove(new)  # left by a process that was killed
        with self._written(new, data):
            os.rename(new, name, src_dir_fd=self.fd, dst_dir_fd=self.fd)
        os.fsync(self.fd)

    @contextlib.contextmanager
    def _written(self, new: str, data: bytes) -> Iterator[None]:
        """A new file; afterwards it is gone, unless it has got another name."""
        fd = os.open(new, _NEW, 0o600, dir_fd=self.fd)
        try:
            _write(fd, data)
            yield
        finally:
            os.close(fd)
            self.remove(new)

    def overwrite(self, name: str, data: bytes) -> None:
        """Replace what a LiveFile says, in place: it stays locked, and needs room on the disk only
        if it grows.

        Raises:
            OSError: it can't be written; it says what it said before.
        """
        fd = os.open(name, _OLD, dir_fd=self.fd)
        try:
            length = os.fstat(fd).st_size
            if len(data) > length:
                os.posix_fallocate(fd, length, len(data) - length)
            os.pwrite(fd, data.ljust(length), 0)
        finally:
            os.close(fd)


class LiveFile:
    """A file that proves that this process lives: it is locked until it is closed or we end.

    The lock is a write lock of the open file (F_OFD_SETLK), for which a process must be able to
    write to the file: no other user can pretend that a dead process's file is alive.

    Args:
        directory: where it is.
        name: of the file.
        data: what it says when it is made.
        again: it may be there already, left by a process that has ended.

    Raises:
        OSError: it can't be made.
    """

    def __init__(
        self, directory: SharedDirectory, name: str, data: bytes = b"", *, again: bool = False
    ) -> None:
        self.directory = directory
        self.name = name
        self._fd = -1
        if not (again and self._take()):
            self._make(data)

    def _make(self, data: bytes) -> None:
        self._fd = os.open(self.name, _NEW, 0o600, dir_fd=self.directory.fd)
        try:
            fcntl.fcntl(self._fd, fcntl.F_OFD_SETLK, _WRITE_LOCK)
            _write(self._fd, data)
            if data:
                os.fsync(self.directory.fd)
        except OSError:
            self.remove()
            raise

    def _take(self) -> bool:
        try:
            self._fd = os.open(self.name, _OLD, dir_fd=self.directory.fd)
        except FileNotFoundError:
            return False
        there = os.fstat(self._fd)
        if there.st_uid != os.geteuid() or not stat.S_ISREG(there.st_mode):
            self.close()
            raise PermissionError(0, "another user has put it there; nobody counts it")
        os.fchmod(self._fd, 0o644)  # its maker may have been killed before
        with contextlib.suppress(OSError):  # a process of this user may hold it, which is as good
            fcntl.fcntl(self._fd, fcntl.F_OFD_SETLK, _WRITE_LOCK)
        return True

    def rename(self, name: str) -> None:
        """Give it another name; the lock stays.

        Raises:
            OSError: it is not there any more, or has no room.
        """
        fd = self.directory.fd
        os.rename(self.name, name, src_dir_fd=fd, dst_dir_fd=fd)
        self.name = name

    def is_there(self) -> bool:
        """Whether nobody has removed or replaced it."""
        return self.directory.has(self.name, self._fd)

    def close(self) -> None:
        """Close it: nothing proves any more that we live."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def remove(self) -> None:
        """Remove and close it."""
        if self._fd >= 0:
            self.directory.remove(self.name)
            self.close()


def _write(fd: int, data: bytes) -> None:
    """Write a new file, which all can read from then on; to the disk, if it says anything."""
    left = memoryview(data)
    while left:
        left = left[os.write(fd, left) :]
    os.fchmod(fd, 0o644)
    if data:
        os.fsync(fd)


def open_this(path: str, say: Callable[[str], None], usual: Usual) -> SharedDirectory:
    """The directory of the settings ('' for the usual one), and no other: in another one what other
    users have there would not be seen.

    Raises:
        FileError: it can't be used; the reason says why, and what makes it usable.
    """
    path = path or usual.path
    try:
        found = open_safe(path, 0o1777, say)
        whose = distrusted(found)
        if whose:
            found.close()
            raise PermissionError(0, f"it {whose}")
    except OSError as error:
        reason = f"{printable(error.strerror or str(error))}; {usual.knob} may name another"
        text = f"the directory of {usual.what}, {path}: {reason}"
        raise FileError(text, transient=True) from None
    return found


def open_private(usual: str, say: Callable[[str], None]) -> SharedDirectory:
    """A directory that no other user can write to: beside the usual one of all, or in the home.

    Raises:
        FileError: there is no place for one.
    """
    reasons = []
    for path in private_paths(usual):
        try:
            return open_safe(path, 0o700, say)
        except OSError as error:
            reasons.append(f"{path}: {error.strerror or error}")
    text = f"there is no directory to keep limits in: {printable('; '.join(reasons))}"
    raise FileError(text, transient=True)


def private_paths(usual: str) -> Iterator[str]:
    """Where the user's own directory may be, the best place first."""
    user = os.geteuid()
    yield f"{usual}.{user}"
    home = os.environ.get("HOME", "")
    if not home.startswith("/"):
        with contextlib.suppress(KeyError):
            home = pwd.getpwuid(user).pw_dir
    if home.startswith("/"):
        yield f"{home}/.{os.path.basename(usual)}"


def failure(path: str, error: OSError) -> str:
    """What could not be used, and why, for people."""
    if isinstance(error, Unusable):
        return str(error)
    return f"{path}: {error.strerror or error}"


def distrusted(found: SharedDirectory) -> str:
    """Whose a directory is that can't be trusted, and what to do; '' if it can be."""
    owner = os.fstat(found.fd).st_uid
    if owner in (0, os.geteuid()) or owner == _user_number("condor"):
        return ""
    return (
        f"belongs to the user {user_name(owner)}, who could remove files of others in it; the"
        f" administrator takes it over with: chown root {found.path}"
    )


@functools.lru_cache(maxsize=256)
def label(host: str) -> str:
    """What stands for a host in names of files; others can't read the host from it at once."""
    return hashlib.sha256(host.lower().encode("utf-8", "surrogateescape")).hexdigest()[:16]


def spread(seconds: float) -> float:
    """About so long, not the same each time: those that wait do not look all at once."""
    return seconds * (0.75 + os.urandom(1)[0] / 512)


def open_safe(path: str, mode: int, say: Callable[[str], None]) -> SharedDirectory:
    """Open it; make it if it is not there.

    Raises:
        OSError: it can't be made or is not safe; the reason says why.
    """
    try:
        fd = os.open(path, OPEN)
    except FileNotFoundError:
        fd = _make(path, mode)
    try:
        if mode != 0o700:
            _finish(fd, mode)
        _check(os.fstat(fd), mode == 0o1777)
        if not os.access(path, os.W_OK | os.X_OK, effective_ids=True):
            raise PermissionError(0, "it can't be written to")
    except OSError:
        os.close(fd)
        raise
    if is_remote(path):
        say(f"{path} is on a remote file system, where locks may not work; use a local one")
    return SharedDirectory(path, fd)


def _make(path: str, mode: int) -> int:
    with contextlib.suppress(FileExistsError):
        os.mkdir(path, 0o700)
        fd = os.open(path, OPEN)
        os.fchmod(fd, mode)
        return fd
    return os.open(path, OPEN)


def _finish(fd: int, mode: int) -> None:
    """Complete a directory that is being made, or whose maker was killed before it was done."""
    until = time.monotonic() + DIRECTORY_MAKING_S
    while time.monotonic() <= until:
        there = os.fstat(fd)
        if there.st_mode & 0o7777 != 0o700 or time.time() - there.st_ctime > DIRECTORY_MAKING_S:
            return
        if there.st_uid == os.geteuid():
            os.fchmod(fd, mode)
            return
        time.sleep(0.01)


def _check(there: os.stat_result, is_shared: bool) -> None:
    if not is_shared:
        if there.st_uid != os.geteuid() or there.st_mode & 0o022:
            raise PermissionError(0, "it is another user's, or others can write to it")
    elif there.st_mode & 0o022 and not there.st_mode & stat.S_ISVTX:
        raise PermissionError(0, "others can write to it and it has no sticky bit (mode 1777)")


def _user_number(name: str) -> int:
    try:
        return pwd.getpwnam(name).pw_uid
    except KeyError:
        return -1


def user_name(number: int) -> str:
    """The name of a user; the number if there is none."""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)
