"""The account that the pool runs as: HTCondor refuses the jobs of root.

A user namespace is the better way: root's own files stay usable.  There root is seen as `daemon`,
an account of every Linux system (Linux Standard Base, "User & Group Names"), and not as `nobody`:
its number stands for all other users there.  Where the machine forbids namespaces (many containers
do) the account `nobody` serves, if the files involved are open to it.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pwd
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from condor_pydagman.errors import PoolError
from condor_pydagman.pool import step_down


@dataclass(frozen=True)
class Identity:
    """The user that the daemons and the jobs of a pool run as."""

    name: str  # its account name, which HTCondor knows the owner of jobs by
    uid: int
    gid: int
    way: str  # '' if it is the caller, else the way of `step_down`

    def command(self, argv: list[str]) -> list[str]:
        """`argv`, wrapped so that it runs as this user."""
        if not self.way:
            return list(argv)
        start = [sys.executable, "-I", "-S", step_down.__file__]
        return [*start, self.way, str(self.uid), str(self.gid), *argv]

    def can(self, test: str, path: Path) -> bool:
        """Whether this user passes test(1)'s `test`, for example '-r', on `path`."""
        return subprocess.run(self.command(["test", test, str(path)]), check=False).returncode == 0

    def own(self, path: Path) -> None:
        """Hand `path` to this user if it is another account than the caller's."""
        if self.way == "account":
            os.chown(path, self.uid, self.gid, follow_symlinks=False)


@functools.cache
def identity() -> Identity:
    """The user for pools of this process's user.

    Raises:
        PoolError: the user has no account, or root none that works.
    """
    uid = os.geteuid()
    if uid:
        return Identity(_account(uid).pw_name, uid, os.getegid(), "")
    for name, way in (("daemon", "namespace"), ("nobody", "account")):
        with contextlib.suppress(KeyError):
            account = pwd.getpwnam(name)
            found = Identity(name, account.pw_uid, account.pw_gid, way)
            if _works(found):
                return found
    raise PoolError(
        "root's jobs are refused by HTCondor, and root can neither be seen as 'daemon' in a user"
        " namespace here nor become 'nobody'; use condor_pydagman as an ordinary user",
        transient=False,
    )


def _account(uid: int) -> pwd.struct_passwd:
    try:
        return pwd.getpwuid(uid)
    except KeyError:
        raise PoolError(
            f"user id {uid} has no account (no line in /etc/passwd), and HTCondor knows users by"
            " name; use a user that has one",
            transient=False,
        ) from None


def _works(candidate: Identity) -> bool:
    return (
        subprocess.run(
            candidate.command(["true"]), stderr=subprocess.DEVNULL, check=False
        ).returncode
        == 0
    )
