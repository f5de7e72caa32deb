"""Checks that only the user can change a directory.

Programs in the pool's directory and in the cache are run, as are those that the configuration there
names.  Whoever can replace such a directory, or one above it, chooses these programs.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from condor_pydagman.errors import PoolError

_MAX_LINKS = 40  # as the kernel


def refuse_others(directory: Path, remedy: str) -> None:
    """Refuse a directory that somebody else than the user and root can change or replace.

    A directory that only a group may write to is trusted as its group is.  What is not there is
    not looked at: look when it has been made.

    Args:
        directory: an absolute path.
        remedy: what to do; ends the message.

    Raises:
        PoolError: it or one above it is somebody else's, or open to all.
        OSError: it can't be looked at.
    """
    path, left, links = Path("/"), list(reversed(directory.parts[1:])), 0
    # Where root is not known (a container's user namespace) this is how it is called.
    trusted = {0, os.geteuid(), os.stat("/").st_uid}
    while True:
        found = path.lstat()
        wrong = _wrong(found, trusted, last=not left)
        if wrong:
            raise PoolError(
                f"{directory}: {'' if path == directory else f'{path}: '}{wrong}; who can"
                f" change it determines what is run as you; {remedy}",
                transient=False,
            )
        if stat.S_ISLNK(found.st_mode):
            links += 1
            if links > _MAX_LINKS:
                raise PoolError(f"{directory}: too many symbolic links", transient=False)
            behind = Path(os.readlink(path))
            left += reversed(behind.parts[behind.is_absolute() :])
            path = Path("/") if behind.is_absolute() else path.parent
        if not left:
            return
        name = left.pop()
        path = path.parent if name == ".." else path / name


def _wrong(found: os.stat_result, trusted: set[int], *, last: bool) -> str:
    if found.st_uid not in trusted:
        return f"it belongs to user {found.st_uid}"
    # Where the sticky bit is set, others can't replace what is there.
    kept = found.st_mode & stat.S_ISVTX and not last
    if stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_IWOTH and not kept:
        return "everybody may write to it"
    return ""
