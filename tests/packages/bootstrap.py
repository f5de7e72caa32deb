"""Debian's newest suite with HTCondor's own packages, in a directory.

That takes root, a network and a minute.  So the user's cache directory keeps the last one that was
made, which serves as long as the archive has nothing newer: the archive's signed index is part of
its name.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

from condor_pydagman.errors import PoolError
from condor_pydagman.pool import apt, fetch
from tests.waiting import LIMIT_S

SUITE = "sid"
PACKAGES = "minicondor python3-cryptography man-db tcsh"
PROGRAMS = ("debootstrap", "unshare", "chroot", "wget")
CLEAN = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "LC_ALL": "C",
    "DEBIAN_FRONTEND": "noninteractive",
}

# Makes the mount namespace's own view of the directory $1.
ENTER = 'mount --bind "$1" "$1" && mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev"\n'
# The directory $1, with packages of the mirror $2, and of it the file $3.  What is never read is
# left out, and nothing waits for the disk.
MAKE = f"""\
mkdir -p "$1/etc/dpkg/dpkg.cfg.d" "$1/usr/sbin"
cat > "$1/etc/dpkg/dpkg.cfg.d/tests" <<END
force-unsafe-io
path-exclude=/usr/share/doc/*
path-include=/usr/share/doc/condor-pydagman*
path-exclude=/usr/share/locale/*
END
printf '#!/bin/sh\\nexit 101\\n' > "$1/usr/sbin/policy-rc.d"  # start nothing
chmod +x "$1/usr/sbin/policy-rc.d"
debootstrap --variant=minbase {SUITE} "$1" "$2"
cp /etc/hosts /etc/resolv.conf "$1/etc/"
{ENTER}
chroot "$1" apt-get install -qq -y --no-install-recommends {PACKAGES}
rm -rf "$1"/var/lib/apt/lists/* "$1"/var/cache/apt/* "$1/var/lib/man-db/auto-update"
tar --create --file "$3" --one-file-system --numeric-owner --directory "$1" .
"""
UNPACK = 'mkdir "$1" && tar --extract --file "$2" --numeric-owner --directory "$1"\n'


def mirror() -> str:
    """The address of the archive that this machine uses; '' if it is none of Debian's."""
    try:
        system, codename = fetch.debian_or_ubuntu()
        found = apt.mirrors(apt.archives(), codename) if system == "debian" else []
    except PoolError:
        return ""
    return found[0].rstrip("/") if found else ""


@cache
def index() -> str:
    """What the archive says it has, signed; '' if it does not answer."""
    return run("wget", "-qO-", f"{mirror()}/dists/{SUITE}/InRelease", check=False)


def obstacle(*programs: str) -> str:
    """Why there can be no such directory here, or `programs` can't run in it; '' if all can be."""
    if os.geteuid():
        return "it needs root, for chroot and namespaces"
    missing = [program for program in (*PROGRAMS, *programs) if not shutil.which(program)]
    if missing:
        return f"not installed: {', '.join(missing)}"
    if not mirror():
        return "apt's own sources name no archive of Debian"
    return "" if index() else f"{mirror()} does not answer, or has no {SUITE}"


def make(root: Path) -> None:
    """Make the directory `root`.

    Raises:
        AssertionError: it failed; says how.
    """
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    directory = caches / "condor_pydagman" / SUITE
    directory.mkdir(parents=True, exist_ok=True)
    kept = directory / f"{hashlib.sha256((index() + MAKE).encode()).hexdigest()}.tar"
    with fetch.alone(directory):
        if kept.exists():
            run("sh", "-ec", UNPACK, "sh", str(root), str(kept))
            return
        for older in directory.glob("*.tar*"):
            older.unlink()
        new = kept.with_suffix(".tar.new")
        words = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", MAKE, "sh"]
        run(*words, str(root), mirror(), str(new), limit_s=None)  # as long as the archive takes
        new.rename(kept)


def run(*words: str, check: bool = True, limit_s: float | None = LIMIT_S) -> str:
    """What a command prints that runs with the environment of a system, not of these tests.

    Raises:
        AssertionError: it failed, and `check` is set.
    """
    done = subprocess.run(
        words,
        env=CLEAN,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=limit_s,
        check=False,
    )
    assert not check or not done.returncode, (words, done.stdout[-2000:], done.stderr[-4000:])
    return done.stdout
