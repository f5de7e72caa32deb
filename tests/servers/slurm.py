"""A real Slurm on this machine, of one node, for one user: Debian's programs, not installed.

`running` starts munged, slurmctld and slurmd, as that user and without cgroups.  `blahpd` is a
program for HTCondor's knob BATCH_GAHP that knows of it.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from condor_pydagman.pool import Pool, processes
from tests.servers import fetched
from tests.servers.real import free_port
from tests.waiting import LIMIT_S

PACKAGES = ("slurmctld", "slurmd", "slurm-client", "slurm-wlm-basic-plugins", "munge")
COMMANDS = ("sbatch", "scancel", "scontrol", "sinfo", "squeue")
QUEUE = "short"

# A site's configuration; what is not said here would need root, cgroups, or a database.
_CONFIGURATION = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={directory}/munge.socket
CredType=cred/munge
PluginDir={plugins}
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd.pid
SlurmctldLogFile={directory}/slurmctld.log
SlurmdLogFile={directory}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
KillWait=2
NodeName={host} NodeAddr=127.0.0.1 Port={node_port} CPUs=8 State=UNKNOWN
PartitionName={queue} Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""
# Without slurm_status.py, which keeps what it knows for a minute, and has exit codes from Slurm's
# database only, slurm_status.sh asks Slurm; but it expects the words of an older Slurm.
_STATUS_CACHE = "slurm_status.py"
_AS_OLDER = """\
said=$({program} "$@") || exit
echo "$said" | sed 's/ Reboot=[0-9]*//'
"""


class Slurm:
    """A Slurm in a directory, run by the user of a pool."""

    def __init__(self, directory: Path, pool: Pool) -> None:
        self.directory = directory
        self._pool = pool
        self._prefix = fetched.fetched("slurm", PACKAGES)
        (self._plugins,) = self._prefix.glob("usr/lib/*-linux-gnu/slurm-wlm")
        libraries = fetched.environment(self._prefix)["LD_LIBRARY_PATH"]
        self._environment = {
            "LD_LIBRARY_PATH": f"{libraries}:{self._plugins}",
            "SLURM_CONF": str(directory / "slurm.conf"),
        }

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """While it takes jobs."""
        self._configure()
        files = {
            name: self.directory / f"munge.{name}" for name in ("key", "socket", "pid", "seed")
        }
        munge = [f"--{name}-file={files[name]}" for name in ("key", "pid", "seed")]
        munge += [f"--socket={files['socket']}", f"--log-file={self.directory}/munge.log"]
        step = f"{self._prefix}/usr/sbin/slurmstepd-wlm"
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._daemon("munged", "--foreground", "--force", *munge))
            self._wait("munged", files["socket"].exists)
            stack.enter_context(self._daemon("slurmctld-wlm", "-D"))
            stack.enter_context(self._daemon("slurmd-wlm", "-D", "-d", step))
            self._wait("slurmd", lambda: self.ask("sinfo", "-h", "-o", "%t") == "idle")
            yield

    def ask(self, command: str, *words: str) -> str:
        """What one of its commands says; '' if it fails."""
        argv = self._pool.command([str(self.directory / "bin" / command), *words])
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        return "" if done.returncode else done.stdout.strip()

    def blahpd(self, program: Path, release: Path) -> None:
        """Write `program`, which is HTCondor's blahpd for this Slurm; `release` is HTCondor's."""
        scripts = self.directory / "blahp"
        scripts.mkdir()
        for script in (release / "libexec/blahp").iterdir():
            if script.name != _STATUS_CACHE:
                (scripts / script.name).symlink_to(script)
        (self.directory / "blah.config").write_text(
            f"supported_lrms=slurm\nblah_shared_directories=/\n"
            f"blah_libexec_directory={scripts}\nslurm_binpath={self.directory}/bin/\n"
        )
        where = {
            "BLAHPD_LOCATION": str(release),
            "BLAHPD_CONFIG_LOCATION": str(self.directory / "blah.config"),
        }
        _write_program(program, where, release / "bin/blahpd")

    def _configure(self) -> None:
        identity = self._pool.identity
        for name in ("bin", "state", "spool"):
            (self.directory / name).mkdir(parents=True)
        for command in COMMANDS:
            program = self._prefix / "usr/bin" / command
            _write_program(self.directory / "bin" / command, self._environment, program)
        last = _AS_OLDER.format(program=self._prefix / "usr/bin/scontrol")
        _write_program(self.directory / "bin/scontrol", self._environment, last)
        (self.directory / "slurm.conf").write_text(
            _CONFIGURATION.format(
                host=socket.gethostname(),
                port=free_port(),
                node_port=free_port(),
                user=identity.name,
                directory=self.directory,
                plugins=self._plugins,
                queue=QUEUE,
            )
        )
        key = self.directory / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        for path in (self.directory, key, self.directory / "state", self.directory / "spool"):
            identity.own(path)

    @contextlib.contextmanager
    def _daemon(self, name: str, *words: str) -> Iterator[None]:
        # With the mark, the end of the pool is its end as well.
        mark = {processes.MARK: str(self._pool.directory)}
        with (self.directory / f"{name}.out").open("wb") as output:
            process = subprocess.Popen(
                self._pool.command([str(self._prefix / "usr/sbin" / name), *words]),
                env={**os.environ, **self._environment, **mark},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # Slurm signals process groups, which may be its own
            )
        try:
            yield
        finally:
            process.kill()
            process.wait()

    def _wait(self, name: str, is_up: Callable[[], bool]) -> None:
        until = time.monotonic() + LIMIT_S
        while not is_up():
            if time.monotonic() > until:
                logs = sorted(self.directory.glob("*.out"))
                said = "\n".join(path.read_text(errors="replace")[-1000:] for path in logs)
                raise RuntimeError(f"{name} did not come up:\n{said}")
            time.sleep(0.1)


def _write_program(path: Path, variables: dict[str, str], program: Path | str) -> None:
    """A shell script that runs `program`, or is this text, with these variables."""
    lines = [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    last = program if isinstance(program, str) else f'exec {shlex.quote(str(program))} "$@"\n'
    path.write_text("\n".join(["#!/bin/sh", *lines, last]))
    path.chmod(0o755)
