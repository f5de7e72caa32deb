"""A pool in a root directory of Debian's newest suite.

What is mounted, the network and the processes are in namespaces of their own, which end with the
process that made them.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.packages import bootstrap
from tests.waiting import until

PROGRAMS = ("nsenter", "ip", "bash")
USER = "ada"
# Jobs start soon, and a DAG that is released.
CONFIGURATION = """\
NEGOTIATOR_CYCLE_DELAY = 1
NEGOTIATOR_MIN_INTERVAL = 1
SCHEDD_INTERVAL = 1
SCHEDD_MIN_INTERVAL = 1
SCHEDULER_UNIVERSE_COOL_DOWN_DURATION = 1
"""
LOGS = "var/log/condor"

# There is no systemd to make what HTCondor expects.  The pool ends with its standard input, which
# is this process's end, however that comes, and with its master.
POOL = """\
ip link set lo up
exec chroot "$1" bash -ec '
    execute=$(condor_config_val EXECUTE)
    mkdir -p /run/condor /var/lock/condor "$execute"
    chown condor:condor /run/condor /var/lock/condor "$execute"
    exec 3<&0
    condor_master -f 3<&- &
    cat <&3 &
    wait -n'
"""
READY = "condor_q -af ClusterId > /dev/null && condor_status -af Name"


class DebianRoot:
    """The pool, which runs after `start`.

    Attributes:
        path: the directory.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._pool: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start HTCondor, and make an ordinary user."""
        (self.path / "etc/condor/config.d/90-test").write_text(CONFIGURATION, encoding="utf-8")
        words = ["unshare", "--mount", "--pid", "--net", "--fork", "--kill-child"]
        with open(self.path / LOGS / "StandardErrorLog", "wb") as errors:
            self._pool = subprocess.Popen(
                [*words, "sh", "-ec", bootstrap.ENTER + POOL, "sh", str(self.path)],
                env=bootstrap.CLEAN,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )
        until(self._is_there, "the namespaces are made", over=self.over)
        until(self._is_ready, "HTCondor is up", over=self.over, story=self.logs, pause_s=0.1)
        self.run("useradd", "--create-home", "--shell", "/bin/bash", USER)

    def stop(self) -> None:
        """End all processes of the pool."""
        if self._pool is not None:
            self._pool.communicate()
            self._pool = None

    def run(self, *words: str, check: bool = True) -> str:
        """What a command prints that runs there as root.

        Raises:
            AssertionError: it failed, and `check` is set.
        """
        first = self._first()
        assert first, f"the pool is over: {self.over()}\n{self.logs()}"
        enter = ["nsenter", "--target", *first, "--all", "--root", "--wd", "--"]
        return bootstrap.run(*enter, *words, check=check)

    def login(self, script: str) -> str:
        """What a script of the user prints, in a shell as after a login."""
        return self.run("su", "--login", USER, "--command", script)

    def over(self) -> str:
        """Why the pool does not run any more; '' as long as it does."""
        assert self._pool is not None
        return "" if self._pool.poll() is None else f"it ended with {self._pool.returncode}"

    def logs(self) -> str:
        """The ends of what the daemons have logged."""
        files = sorted((self.path / LOGS).glob("*Log"))
        ends = [file.read_text(errors="replace").splitlines()[-30:] for file in files]
        return "\n".join(
            "\n".join([f"--- {file.name}", *end]) for file, end in zip(files, ends) if end
        )

    def _first(self) -> list[str]:
        """The first process of the namespaces, by its number outside; none before it is there."""
        assert self._pool is not None
        number = self._pool.pid
        try:
            text = Path(f"/proc/{number}/task/{number}/children").read_text(encoding="ascii")
        except OSError:  # it has ended
            return []
        return text.split()

    def _is_there(self) -> bool:
        return [os.readlink(f"/proc/{first}/root") for first in self._first()] == [str(self.path)]

    def _is_ready(self) -> str:
        return "" if self.over() else self.run("sh", "-c", READY, check=False)
