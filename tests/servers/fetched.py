"""Programs from the machine's own Debian archive, unpacked into the user's cache, not installed."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from condor_pydagman.errors import PoolError
from condor_pydagman.pool import apt
from condor_pydagman.pool.fetch import SUITES, debian_or_ubuntu, keyring, source_line

SERVERS: tuple[str, ...] = ("openssh-server", "openssh-sftp-server", "openssh-client")
SERVERS += ("xrootd-server",)
# Lets sshd know a user of ours: it refuses accounts that are locked, as that of nobody is.
SERVERS += ("libnss-wrapper",)
BROWSER = ("chromium-headless-shell", "chromium-common", "fonts-dejavu-core", "fontconfig-config")
NOT_NEEDED = ("libc6", "libc-bin", "libsystemd0", "libudev1")  # the machine has them, running


def fetched(
    name: str = "servers",
    wanted: Sequence[str] = SERVERS,
    make_runnable: Callable[[Path], None] | None = None,
) -> Path:
    """The directory with `usr/sbin/sshd`, `usr/bin/xrootd` and others; fetched once.

    Args:
        name: of the directory in the cache.
        wanted: packages; what they depend on is there as well.
        make_runnable: given, they come from the newest suite, with the C library of that, and this
            makes them run here.

    Raises:
        PoolError: this machine can't fetch them.
    """
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    cache = home / "condor_pydagman" / name
    cache.mkdir(parents=True, exist_ok=True)
    prefix, work, stamp = cache / "prefix", cache / "work", cache / "complete"
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if stamp.exists() and stamp.read_text() == " ".join(wanted):
            return prefix
        if not apt.available():
            raise PoolError("this machine has no apt-get", transient=False)
        for directory in (prefix, work):
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir()
        system, codename = debian_or_ubuntu()
        archive = apt.Apt(work)
        (mirror, *_) = apt.mirrors(apt.archives(), codename) or [""]
        suite = SUITES[system][-1] if make_runnable else codename
        archive.use(source_line(system, mirror, suite, keyring(system)))
        left_out = () if make_runnable else NOT_NEEDED
        archive.unpack([name for name in archive.libraries(wanted) if name not in left_out], prefix)
        if make_runnable:
            make_runnable(prefix)
        shutil.rmtree(work, ignore_errors=True)
        stamp.write_text(" ".join(wanted))
    return prefix


def environment(prefix: Path) -> dict[str, str]:
    """With it, programs of `fetched` find their libraries."""
    libraries = [str(path) for path in prefix.glob("usr/lib/*-linux-gnu*")]
    libraries += [str(path) for path in prefix.glob("lib/*-linux-gnu*")]
    libraries += [str(path) for path in prefix.glob("usr/lib/*-linux-gnu*/pulseaudio")]
    return {**os.environ, "LD_LIBRARY_PATH": ":".join(libraries)}
