"""Programs of a site, its modules among them: finding one that is safe to run.

They run as the user, so one that others could have written is refused.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pwd
import stat
from collections.abc import Sequence


def find(names: Sequence[str], directories: Sequence[str]) -> tuple[str, str]:
    """The first module with one of the names: its path, or '' and why there is none."""
    refused: list[str] = []
    for name in names:
        for directory in directories:
            path = os.path.join(directory, name)
            if not os.path.lexists(path):
                continue
            reason = refusal(path)
            if not reason:
                return path, ""
            refused.append(f"{path} {reason}")
    if refused:
        return "", "; ".join(refused)
    wanted = " or ".join(names)
    return "", f"no {wanted} in {', '.join(directories) or 'any directory: none is configured'}"


def refusal(path: str) -> str:
    """Why a module, or another program of the site's, is not run; '' if it is."""
    try:
        real = os.path.realpath(path)
        mode = os.stat(real).st_mode
    except OSError as error:
        return f"can't be used: {error.strerror}"
    if not os.path.isabs(path):
        return "is not used: its directory must be an absolute path"
    if stat.S_ISDIR(mode):
        return "is a directory"
    if not stat.S_ISREG(mode):
        return "is no file"
    for place in dict.fromkeys((real, *_directories(real), *_directories(os.path.abspath(path)))):
        writer = _other_writer(place)
        if writer:
            what = "it" if place == real else place
            return f"is not run: {what} {writer}"
    return "" if os.access(real, os.X_OK) else "is not executable"


def _directories(path: str) -> list[str]:
    """All directories above a path, and where their links lead."""
    found = []
    while path != "/":
        path = os.path.dirname(path)
        found.append(path)
    return found


def _other_writer(path: str) -> str:
    """Who else may change this file or directory; '' if only root, condor and the user may."""
    try:
        info = os.stat(path)
    except OSError as error:
        return f"can't be looked at: {error.strerror}"
    if info.st_uid not in _trusted_owners():
        return f"belongs to user {info.st_uid}"
    if stat.S_ISDIR(info.st_mode) and info.st_mode & stat.S_ISVTX:
        return ""  # there nobody can replace what is another user's
    if info.st_mode & stat.S_IWOTH:
        return "is writable by all users"
    # root's group, or one that has its number from the user: such a group has nobody else
    is_private = info.st_gid == 0 or info.st_gid == info.st_uid == os.getegid()
    if info.st_mode & stat.S_IWGRP and not is_private:
        return f"is writable by group {info.st_gid}"
    return ""


@functools.lru_cache(maxsize=1)
def _trusted_owners() -> frozenset[int]:
    # Whoever owns / can change everything; in a user namespace root may have another number.
    owners = {0, os.geteuid(), os.stat("/").st_uid}
    with contextlib.suppress(KeyError):
        owners.add(pwd.getpwnam("condor").pw_uid)
    return frozenset(owners)
