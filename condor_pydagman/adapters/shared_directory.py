"""A directory that all users of an access point share: what they take of limits, and of sites.

Anyone may make files in it, and remove only their own (the sticky bit).  Nothing in it is trusted:
a file counts for who owns it, whatever its name says.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pwd
import re
import stat
import time
from collections.abc import Callable

from condor_pydagman.adapters.inotify import is_remote
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import printable

OTHER_NAME = r"(?:\.[0-9a-f]{16})?"  # what a name ends in if its usual one was taken
MAX_ENTRIES = 20_000  # names; more of them are an attack, or a directory for something else
_MAKING_S = 2.0  # seconds between mkdir and chmod, at most
OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Usual(NamedTuple):
    """The directory that is used if the settings name none, and the knob that names another."""

    path: str
    knob: str


class Crowded(Exception):
    """There are too many names in the directory."""


class SharedDirectory:
    """An open directory.

    Args:
        path: absolute.
        fd: of it; closed with the object.

    Attributes:
        path: where it is.
        fd: for functions that take `dir_fd`.
    """

    def __init__(self, path: str, fd: int) -> None:
        self.path = path
        self.fd = fd

    def close(self) -> None:
        """Close it; the object is of no use any more."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def names(self) -> list[str]:
        """Every name in it; raises as `entries`."""
        return [name for name, _ in self.entries()]

    def entries(self) -> list[tuple[str, int]]:
        """Every name in it, and the number that tells its file from others.

        Raises:
            Crowded: there are too many.
            OSError: it can't be read.
        """
        found = []
        with os.scandir(self.fd) as entries:
            for entry in entries:
                found.append((entry.name, entry.inode()))
                if len(found) > MAX_ENTRIES:
                    raise Crowded(f"{self.path} has more than {MAX_ENTRIES} files")
        return found

    def is_in_place(self) -> bool:
        """Whether its path still leads to it."""
        try:
            return os.path.samestat(os.lstat(self.path), os.fstat(self.fd))
        except OSError:
            return False

    def owner(self, name: str) -> int:
        """Number of the user whose file it is; -1 if it is not there or no ordinary file."""
        try:
            there = os.stat(name, dir_fd=self.fd, follow_symlinks=False)
        except OSError:
            return -1
        return there.st_uid if stat.S_ISREG(there.st_mode) else -1

    def name_of_ours(self, usual: str) -> str:
        """The name of a file of this user's: the usual one, or if somebody else has taken that, one
        that nobody can foresee.  The file that there is keeps its name.

        Raises:
            OSError: the directory can't be read, or has too many files.
        """
        form = re.compile(re.escape(usual) + OTHER_NAME)
        try:
            begun = sorted(name for name in self.names() if form.fullmatch(name))
        except Crowded as error:
            raise OSError(0, str(error)) from None
        user = os.geteuid()
        ours = (name for name in begun if self.owner(name) == user)
        other = f"{usual}.{os.urandom(8).hex()}" if usual in begun else usual
        return next(ours, other)

    def remove(self, name: str) -> None:
        """Remove a file, if it is there and ours."""
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=self.fd)


def open_this(path: str, say: Callable[[str], None], usual: Usual) -> SharedDirectory:
    """The directory of the settings ('' for the usual one), and no other.

    Raises:
        OSError: it can't be used; the reason says why, and what makes it usable.
    """
    try:
        found = open_safe(path or usual.path, 0o1777, say)
    except OSError as error:
        reason = printable(error.strerror or str(error))
        raise PermissionError(0, f"{reason}; {usual.knob} may name another") from None
    whose = distrusted(found)
    if whose:
        found.close()
        raise PermissionError(0, f"it {whose}; {usual.knob} may name another")
    return found


def distrusted(found: SharedDirectory) -> str:
    """Whose a directory is that can't be trusted, and what to do; '' if it can be."""
    owner = os.fstat(found.fd).st_uid
    if owner in (0, os.geteuid(), _user_number("condor")):
        return ""
    return (
        f"belongs to the user {_user_name(owner)}, who could remove files of others in it; the"
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
    until = time.monotonic() + _MAKING_S
    while True:
        there = os.fstat(fd)
        if there.st_mode & 0o7777 != 0o700 or time.time() - there.st_ctime > _MAKING_S:
            return
        if there.st_uid == os.geteuid():
            os.fchmod(fd, mode)
            return
        if time.monotonic() > until:
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


def _user_name(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)
