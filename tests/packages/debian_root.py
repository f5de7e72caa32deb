"""A root directory of Debian's newest suite with HTCondor's own packages, and a pool in it.

It takes root, about a minute and 900 MB.  What is mounted, the network and the processes are in
namespaces of their own, which end with the process that made them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from condor_pydagman.errors import PoolError
from condor_pydagman.pool import apt, fetch
from tests.waiting import until

SUITE = "sid"
PROGRAMS = ("debootstrap", "unshare", "nsenter", "ip", "chroot")
USER = "ada"
CONFIGURATION = "SCHEDULER_UNIVERSE_COOL_DOWN_DURATION = 1\n"  # before a released DAG starts

# Makes the namespaces' own view of the directory $1, then goes on there.
ENTER = 'mount --bind "$1" "$1" && mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev"\n'
INSTALL = ENTER + 'root=$1 && shift && exec chroot "$root" apt-get install -qq -y "$@"\n'
# There is no systemd to make what HTCondor expects.  The pool ends with its standard input, which
# is this process's end, however that comes.
POOL = """\
ip link set lo up
exec chroot "$1" sh -c '
    execute=$(condor_config_val EXECUTE)
    mkdir -p /run/condor /var/lock/condor "$execute"
    chown condor:condor /run/condor /var/lock/condor "$execute"
    condor_master -f &
    cat'
"""
CLEAN = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"}


def obstacle() -> str:
    """Why there can be no such root here; '' if it can be."""
    if os.geteuid():
        return "it needs root, for chroot and namespaces"
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    if missing:
        return f"not installed: {', '.join(missing)}"
    return "" if _mirror() else "apt's own sources name no archive of Debian"


def _mirror() -> str:
    try:
        system, codename = fetch.debian_or_ubuntu()
        found = apt.mirrors(apt.archives(), codename) if system == "debian" else []
    except PoolError:
        return ""
    return found[0] if found else ""


class DebianRoot:
    """The root, HTCondor installed and running after `start`.

    Attributes:
        path: the directory.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._pool: subprocess.Popen[bytes] | None = None

    def make(self) -> None:
        """Install the base system.

        Raises:
            AssertionError: it failed, as without a network; says how.
        """
        words = ["debootstrap", "--variant=minbase", SUITE, str(self.path), _mirror()]
        _run(words, limit_s=600)
        # The lists of a mirror may be older than their date allows.
        self.write("/etc/apt/apt.conf.d/valid", 'Acquire::Check-Valid-Until "false";\n')
        self.write("/usr/sbin/policy-rc.d", "#!/bin/sh\nexit 101\n").chmod(0o755)  # start nothing
        for name in ("hosts", "resolv.conf"):
            shutil.copy(f"/etc/{name}", self.path / "etc")

    def install(self, *packages: str) -> None:
        """Install packages of the suite."""
        words = ["unshare", "--mount", "--pid", "--fork", "sh", "-ec", INSTALL, "sh"]
        _run([*words, str(self.path), "--no-install-recommends", *packages], limit_s=600)

    def start(self) -> None:
        """Start HTCondor, and make an ordinary user."""
        self.write("/etc/condor/config.d/90-test", CONFIGURATION)
        words = ["unshare", "--mount", "--pid", "--net", "--fork", "--kill-child"]
        self._pool = subprocess.Popen(
            [*words, "sh", "-ec", ENTER + POOL, "sh", str(self.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until(self._is_there, "the namespaces are made", over=self._over)
        ready = "condor_q -af ClusterId > /dev/null && condor_status -af Name"
        until(
            lambda: self.run("sh", "-c", ready, check=False).strip(),
            "HTCondor is up",
            story=lambda: self.run("sh", "-c", "tail -n 30 /var/log/condor/*Log", check=False),
        )
        self.run("useradd", "--create-home", "--shell", "/bin/bash", USER)

    def stop(self) -> None:
        """End all processes of the pool."""
        if self._pool is not None:
            self._pool.communicate()
            self._pool = None

    def write(self, path: str, text: str) -> Path:
        """Write a file of the root; returns where it is."""
        file = self.path / path.lstrip("/")
        file.write_text(text, encoding="utf-8")
        return file

    def run(self, *words: str, check: bool = True) -> str:
        """What a command prints that runs there as root.

        Raises:
            AssertionError: it failed, and `check` is set.
        """
        (first,) = self._first()
        enter = ["nsenter", "--target", first, "--all", "--root", "--wd", "--"]
        return _run([*enter, *words], check=check)

    def login(self, script: str, *, check: bool = True) -> str:
        """What a script of the user prints, in a shell as after a login."""
        return self.run("su", "--login", USER, "--command", script, check=check)

    def _first(self) -> list[str]:
        """The first process of the namespaces, by its number outside; none before it is there."""
        assert self._pool is not None
        number = self._pool.pid
        return Path(f"/proc/{number}/task/{number}/children").read_text(encoding="ascii").split()

    def _is_there(self) -> bool:
        return [os.readlink(f"/proc/{first}/root") for first in self._first()] == [str(self.path)]

    def _over(self) -> str:
        assert self._pool is not None
        return "" if self._pool.poll() is None else f"they ended with {self._pool.returncode}"


def _run(words: list[str], *, check: bool = True, limit_s: float = 120) -> str:
    done = subprocess.run(
        words,
        env={**CLEAN, "DEBIAN_FRONTEND": "noninteractive"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=limit_s,
        check=False,
    )
    assert not check or not done.returncode, (words, done.stdout[-4000:])
    return done.stdout
