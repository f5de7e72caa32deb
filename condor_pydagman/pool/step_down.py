"""Run a command as an unprivileged user: a program of its own, which root's commands go through.

    python step_down.py namespace|account UID GID COMMAND...

`namespace` keeps root's rights on root's own files: in a new user namespace root is seen as UID,
and HTCondor, which refuses root's jobs, accepts them.  `account` becomes UID for good.
It imports nothing from the package, as it runs without site-packages to start fast.
"""

from __future__ import annotations

import os
import sys

CLONE_NEWUSER = 0x10000000


def enter_namespace(uid: int, gid: int) -> None:
    """Make a user namespace in which this process is `uid`:`gid`; OSError if it may not."""
    import ctypes  # costs 10 ms, which the other way need not pay

    outside_uid, outside_gid = os.geteuid(), os.getegid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWUSER) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"user namespace: {os.strerror(code)}")
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{uid} {outside_uid} 1")
    _write("/proc/self/gid_map", f"{gid} {outside_gid} 1")


def become_account(uid: int, gid: int) -> None:
    """Give up root for `uid`:`gid`; OSError if this process is not root."""
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)


def main(argv: list[str]) -> int:
    """Step down and become the command; returns only if that failed, as env(1) would."""
    way, uid, gid, command = argv[0], int(argv[1]), int(argv[2]), argv[3:]
    try:
        (enter_namespace if way == "namespace" else become_account)(uid, gid)
    except OSError as error:
        print(f"condor_pydagman: can't give up root: {error}", file=sys.stderr)
        return 125
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"condor_pydagman: {command[0]}: {error.strerror}", file=sys.stderr)
        return 127 if isinstance(error, FileNotFoundError) else 126


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as stream:
        stream.write(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
