"""The directory that all users of an access point share for placements: tickets, rests, ledgers."""

from __future__ import annotations

import contextlib
import os
import pwd
from collections.abc import Callable, Iterator

from condor_pydagman.adapters.shared_directory import OPEN, SharedDirectory, distrusted, open_safe
from condor_pydagman.placement.faults import Fault, FaultKind
from condor_pydagman.printable import printable

DEFAULT = "/var/tmp/condor_pydagman-placement"  # noqa: S108 - checked, and never trusted


def open_shared(path: str, say: Callable[[str], None]) -> SharedDirectory:
    """The directory of the settings ('' for the default), or the user's own if it can't be used.

    Raises:
        Fault: neither can be used.
    """
    try:
        found = open_safe(path or DEFAULT, 0o1777, say)
        whose = distrusted(found)
        if whose and path not in ("", DEFAULT):
            found.close()
            raise PermissionError(0, f"it {whose}")
        if whose:
            say(f"{found.path} {whose}; PYDAGMAN_PLACEMENT_DIR may name another")
        return found
    except OSError as error:
        reason = printable(error.strerror or str(error))
    found = open_own(say)
    kept = "limits and rests of hosts hold only for this user"
    say(f"{path or DEFAULT}: {reason}; {kept}, in {found.path}")
    return found


def open_own(say: Callable[[str], None]) -> SharedDirectory:
    """A directory that no other user can write to.

    Raises:
        Fault: there is no place for one.
    """
    reasons = []
    for path in _own_paths():
        try:
            return open_safe(path, 0o700, say)
        except OSError as error:
            reasons.append(f"{path}: {error.strerror or error}")
    raise Fault(
        FaultKind.DESTINATION,
        f"there is no directory to keep limits in: {printable('; '.join(reasons))}",
        transient=True,
    )


def private_directory(shared: SharedDirectory) -> SharedDirectory:
    """The user's own directory in the shared one.

    Raises:
        OSError: it can't be made or opened.
    """
    user = os.geteuid()
    usual = f"own.{user}"
    for name in [usual, *sorted(n for n in shared.names() if n.startswith(usual + "."))]:
        with contextlib.suppress(OSError):
            return _private(shared, name)
    return _private(shared, f"{usual}.{os.urandom(8).hex()}")


def _private(shared: SharedDirectory, name: str) -> SharedDirectory:
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, 0o700, dir_fd=shared.fd)
    fd = os.open(name, OPEN, dir_fd=shared.fd)
    there = os.fstat(fd)
    if there.st_uid != os.geteuid() or there.st_mode & 0o077:
        os.close(fd)
        raise PermissionError(f"{name} is another user's")
    return SharedDirectory(f"{shared.path}/{name}", fd)


def _own_paths() -> Iterator[str]:
    user = os.geteuid()
    yield f"{DEFAULT}.{user}"
    home = os.environ.get("HOME", "")
    if not home.startswith("/"):
        with contextlib.suppress(KeyError):
            home = pwd.getpwuid(user).pw_dir
    if home.startswith("/"):
        yield f"{home}/.condor_pydagman-placement"
