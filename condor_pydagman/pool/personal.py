"""A personal pool: an HTCondor of one user on one machine, in a directory of its own.

Several may run side by side.  A pool is found by its directory alone, so that any later process
can ask, use or stop what an earlier one started.

Where it and the fetched HTCondor are kept follows the XDG base directory rules.  Root without user
namespaces is the exception: the pool then runs as another account, which can't look into root's
home, so the system's own places serve.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from condor_pydagman.adapters import deleted_directories
from condor_pydagman.errors import PoolError
from condor_pydagman.pool import advice, choice, configuration, processes, release_tree, trust
from condor_pydagman.pool.privileges import Identity, identity

NAME = "condor_pydagman"
POOL_VARIABLE = "PYDAGMAN_POOL"


def pool_directory(environ: Mapping[str, str], shared: bool) -> Path:
    """Directory of the pool when none is named.

    Args:
        environ: the environment; $PYDAGMAN_POOL wins, then $XDG_DATA_HOME.
        shared: True if an account other than the caller's must be able to use it.
    """
    chosen = environ.get(POOL_VARIABLE)
    if chosen:
        return Path(chosen).absolute()
    return _base(environ, "XDG_DATA_HOME", ".local/share", "/var/lib", shared) / NAME / "pool"


def cache_directory(environ: Mapping[str, str], shared: bool) -> Path:
    """Directory that holds a fetched HTCondor; arguments as of `pool_directory`."""
    return _base(environ, "XDG_CACHE_HOME", ".cache", "/var/cache", shared) / NAME / "htcondor"


def _base(environ: Mapping[str, str], variable: str, home: str, system: str, shared: bool) -> Path:
    chosen = environ.get(variable, "")
    if os.path.isabs(chosen):  # the XDG rules say to ignore a relative path
        return Path(chosen)
    if shared:
        return Path(system)
    return Path(environ.get("HOME") or os.path.expanduser("~")).absolute() / home


def commands_directory() -> str:
    """Directory of our own commands: where the console scripts of this Python are.

    A virtual environment keeps them beside its interpreter; `pip install --user` does not.
    """
    candidates = [os.path.dirname(sys.executable), sysconfig.get_path("scripts")]
    if os.path.basename(sys.argv[0]) == NAME:
        candidates.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
    if f"{os.name}_user" in sysconfig.get_scheme_names():
        candidates.append(sysconfig.get_path("scripts", f"{os.name}_user"))
    for directory in candidates:
        if os.access(os.path.join(directory, "condor_dagman"), os.X_OK):
            return directory
    return candidates[0]


_STATES = ("idle", "running", "removed", "completed", "held", "transferring", "suspended")
JOB_STATES = {str(number): state for number, state in enumerate(_STATES, 1)}


def silent(_text: str) -> None:
    """Discards a message."""


@dataclass(frozen=True)
class Status:
    """What is known of a pool."""

    up: bool  # whether its condor_master runs and its schedd answers
    master: int  # process id of the condor_master, 0 if it does not run
    # daemon -> address, of those that wrote one
    addresses: dict[str, str] = field(default_factory=dict)
    # state ('idle', 'running', ...) -> number of jobs in the queue
    jobs: dict[str, int] = field(default_factory=dict)


class Pool:
    """The pool in `directory`, running or not.

    Args:
        directory: where it lives; the user's usual one if None.
        say: told what goes on while something takes time.
    """

    def __init__(
        self, directory: str | Path | None = None, say: Callable[[str], None] = silent
    ) -> None:
        self.identity: Identity = identity()
        shared = self.identity.way == "account"
        chosen = Path(directory) if directory else pool_directory(os.environ, shared)
        self.directory = Path(os.path.abspath(chosen))
        self._cache = cache_directory(os.environ, shared)
        self._say = say

    @property
    def config_file(self) -> Path:
        """The CONDOR_CONFIG of the pool; there is one once the pool has been started."""
        return self.directory / "condor_config"

    def start(self, timeout_s: float = 60, slots: int = 16, release: Path | None = None) -> bool:
        """Start the pool and wait until it takes and can run jobs.

        Args:
            timeout_s: seconds to wait for that.
            slots: how many one-CPU jobs may run at a time.
            release: the HTCondor to run, a directory or tarball; any that can be had if None.

        Returns:
            False if it was running already.

        Raises:
            PoolError: no HTCondor can be had, or it did not come up; nothing is left running.
                Or the pool runs another HTCondor than `release`, and goes on.
        """
        if sys.platform != "linux":
            raise PoolError(f"no pool can run here\n{advice.here()}", transient=False)
        self._make_directory()
        with self._locked():
            if self.master():
                self._refuse_another(release)
                self._await_ready(time.monotonic() + timeout_s)
                return False
            self._clear()
            found = choice.find(self._cache, self._say, release)
            try:
                self._launch(found, max(slots, os.cpu_count() or 1))
                self._await_ready(time.monotonic() + timeout_s)
            except BaseException:
                self._clear()
                raise
            return True

    def stop(self, grace_s: float = 15) -> bool:
        """Stop the pool; no process of it is left, its queue is kept for the next start.

        Args:
            grace_s: seconds the daemons get to end by themselves.

        Returns:
            False if nothing of it was running.

        Raises:
            PoolError: a process could not be ended.
        """
        if not self.directory.is_dir():
            return False
        self._refuse_others("take that away from others (chmod, chown), then stop the pool")
        with self._locked():
            return self._clear(grace_s)

    def master(self) -> int:
        """Process id of the running condor_master, 0 if there is none."""
        try:
            pid = int(_said(self._pid_file))
        except (OSError, ValueError):
            return 0
        return pid if processes.is_master(pid, str(self.directory)) else 0

    def status(self) -> Status:
        """Ask the pool how it is; takes some 100 ms."""
        master = self.master()
        if not master:
            return Status(up=False, master=0)
        answer = self._ask(["condor_q", "-allusers", "-af", "JobStatus"])
        words = answer.stdout.split()
        jobs = Counter(JOB_STATES.get(word, "in another state") for word in words)
        return Status(not answer.returncode, master, self._addresses(), dict(jobs))

    def environment(self) -> dict[str, str]:
        """This process's environment, changed so that HTCondor's commands mean this pool.

        Our own commands come first on PATH, then the pool's, then its HTCondor's, then the rest.

        Raises:
            PoolError: the pool has never been started, so there is nothing to point to.
        """
        release = self._release()
        own = str(self.directory / configuration.COMMANDS)
        first = [commands_directory(), own, str(release / "bin"), str(release / "sbin")]
        rest = [entry for entry in os.environ.get("PATH", os.defpath).split(":") if entry]
        keep = [entry for entry in rest if entry not in first]
        # The daemons of a pool leave knobs in the environment of what they start.
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("_CONDOR_")}
        inherited.pop("CONDOR_INHERIT", None)
        if self.identity.way == "account":
            inherited["HOME"] = str(self.directory / "home")  # root's is closed to it
        return {
            **inherited,
            "CONDOR_CONFIG": str(self.config_file),
            "PATH": ":".join(first + keep),
            POOL_VARIABLE: str(self.directory),
        }

    def command(self, argv: list[str]) -> list[str]:
        """`argv` as it must be started to run as the user of the pool: changed only for root."""
        return self.identity.command(argv)

    def _make_directory(self) -> None:
        configuration.refuse_unusable(self.directory, "choose another with --dir")
        with self._written():
            self.directory.mkdir(parents=True, exist_ok=True)
            self._refuse_others()
            # Root writes into the directory itself, and into none that it gives away.
            for name in (*configuration.SUBDIRECTORIES, *configuration.THE_DAEMONS):
                (self.directory / name).mkdir(exist_ok=True)
            for name in configuration.THE_DAEMONS:
                self.identity.own(self.directory / name)
            (self.directory / "private").chmod(0o700)
        if not self.identity.can("-w", self.directory / "log"):
            raise PoolError(
                f"user {self.identity.name}, whom root's pool must run as, can't use"
                f" {self.directory}; choose a directory with --dir that it can reach",
                transient=False,
            )

    @contextlib.contextmanager
    def _written(self) -> Iterator[None]:
        """Tell what could not be written, on a full disk for example."""
        try:
            yield
        except OSError as error:
            raise PoolError(
                f"{error.filename or self.directory}: {error.strerror}; choose another directory"
                " with --dir",
                transient=False,
            ) from None

    def _refuse_others(self, remedy: str = "choose another directory with --dir") -> None:
        """The directory says which programs are run: only the user may be able to change it."""
        trust.refuse_others(self.directory, remedy)

    def _refuse_another(self, named: Path | None) -> None:
        runs = self._release()
        if named and choice.find(self._cache, self._say, named).release != runs:
            raise PoolError(
                f"the pool in {self.directory} runs the HTCondor in {runs}; stop it first:"
                " condor_pydagman pool stop",
                transient=False,
            )

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """One start or stop at a time."""
        try:
            stream = (self.directory / "start.lock").open("a")
        except OSError as error:
            raise PoolError(f"{error.filename}: {error.strerror}", transient=False) from None
        with stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            yield

    def _launch(self, release: release_tree.Layout, slots: int) -> None:
        if not self.identity.can("-x", release.master):
            raise PoolError(
                f"user {self.identity.name}, whom root's pool must run as, can't run"
                f" {release.master}; choose one that it can read with --release (XDG_CACHE_HOME"
                " says where a tarball is unpacked)",
                transient=False,
            )
        with self._written():
            self._configure(release, slots)
        self._say(f"starting HTCondor from {release.release}")
        # A file, not a pipe: the daemons keep it open.
        with (self.directory / "start.out").open("wb") as output:
            done = subprocess.run(
                self.command([str(release.master), "-pidfile", str(self._pid_file)]),
                env={**self.environment(), processes.MARK: str(self.directory)},
                cwd=self.directory,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            )
        if done.returncode:
            said = (self.directory / "start.out").read_text(encoding="utf-8", errors="replace")
            raise PoolError(f"condor_master did not start: {said.strip()}", transient=False)

    def _configure(self, release: release_tree.Layout, slots: int) -> None:
        """Write all that the daemons are to find."""
        sockets = Path(tempfile.mkdtemp(prefix="pydag", dir="/tmp"))
        self.identity.own(sockets)
        (self.directory / "sockets").write_text(f"{sockets}\n", encoding="utf-8")
        (self.directory / "release").write_text(f"{release.release}\n", encoding="utf-8")
        self.config_file.write_text(
            configuration.render(release, self.directory, sockets, self.identity.name, slots),
            encoding="utf-8",
        )
        command = self.directory / configuration.COMMANDS / "htcondor"
        command.write_text(configuration.htcondor_command(sys.executable), encoding="utf-8")
        command.chmod(0o755)

    def _await_ready(self, deadline: float) -> None:
        """Wait until the schedd answers and a slot is there; `deadline` is a monotonic time."""
        questions = [["condor_q", "-totals"], ["condor_status", "-af", "Name"]]
        while questions:
            answer = self._ask(questions[0])
            if not answer.returncode and answer.stdout.strip():
                questions.pop(0)
                continue
            if time.monotonic() >= deadline:
                said = answer.stderr.strip() or f"{questions[0][0]} has no answer"
                raise PoolError(
                    f"the pool did not come up in time: {said}\nLook into {self.directory}/log:"
                    f" MasterLog first.\n{self._log_tail()}",
                    transient=True,
                )
            time.sleep(0.2)

    def _ask(self, argv: list[str]) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                self.command(argv),
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=20,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(argv, 1, "", f"{argv[0]} does not answer")

    def _clear(self, grace_s: float = 15) -> bool:
        """End what runs and remove what only a running pool needs; whether anything ran."""
        mark, master = str(self.directory), self.master()
        ran = bool(master or processes.running(mark))
        if ran:
            left = processes.end(mark, master, grace_s)
            if left:
                pids = " ".join(map(str, left))
                raise PoolError(f"these processes could not be ended: {pids}", transient=True)
        with contextlib.suppress(OSError):
            sockets = Path((self.directory / "sockets").read_text(encoding="utf-8").strip())
            if sockets.parent == Path("/tmp") and sockets.name.startswith("pydag"):
                deleted_directories.delete_directory(str(sockets))
        addresses = [*self.directory.glob("log/.*_address"), *self.directory.glob("spool/.*_ad*")]
        for path in [self._pid_file, self.directory / "sockets", *addresses]:
            with contextlib.suppress(FileNotFoundError):
                path.unlink()
        return ran

    @property
    def _pid_file(self) -> Path:
        return self.directory / "lock/master.pid"  # which the daemon writes

    def _release(self) -> Path:
        try:
            self._refuse_others()
            name = (self.directory / "release").read_text(encoding="utf-8").strip()
        except OSError:
            name = ""
        if not name:  # so does a full disk leave the file
            raise PoolError(
                f"there is no pool in {self.directory}; start one with: condor_pydagman pool start",
                transient=False,
            )
        return Path(name)

    def _addresses(self) -> dict[str, str]:
        files = {"collector": "log/.collector_address", "schedd": "spool/.schedd_address"}
        found = {}
        for daemon, name in files.items():
            with contextlib.suppress(OSError):
                found[daemon] = _said(self.directory / name).partition("\n")[0]
        return found

    def _log_tail(self) -> str:
        try:
            text = _said(self.directory / "log/MasterLog")
        except OSError:
            return "(there is no MasterLog)"
        return "\n".join(text.splitlines()[-5:])


def _said(path: Path) -> str:
    """The text of a file that daemons write, which their account may have replaced.

    Raises:
        OSError: it can't be read, or it is no ordinary file.
    """
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(fd, encoding="utf-8", errors="replace") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "not an ordinary file")
        return file.read()
