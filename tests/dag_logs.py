"""The two logs of a DAG as DAGMan writes them, for tests of what reads them: a line for each thing
that happens, all at times of a clock that the test moves."""

from __future__ import annotations

import time
from pathlib import Path

from condor_pydagman.engine.actions import AppendJournalRecord
from condor_pydagman.records.own_events import record_event
from tests.log_samples import BYTES, TABLE, USAGE

BEGIN = 1795000000.0  # seconds since the epoch
HOST = "<192.0.2.17:9618?addrs=192.0.2.17-9618&alias=ap.example.org&noUDP&sock=schedd_1034_5c1a>"


class DagLogs:
    """Writes `NAME.nodes.log` and `NAME.dagman.out` into a directory.

    Attributes:
        now: seconds since the epoch.
        log, out: the files.
    """

    def __init__(self, directory: Path, name: str = "t.dag") -> None:
        self.now = BEGIN
        self.log = directory / f"{name}.nodes.log"
        self.out = directory / f"{name}.dagman.out"
        self.log.touch()
        self.out.touch()

    def start(self, *, fresh: bool = True, rescue: str = "") -> DagLogs:
        """DAGMan starts: a new run, or a recovery.  Returns these logs."""
        self.say("** /usr/bin/condor_dagman (CONDOR_DAGMAN) STARTING UP")
        self.say("** $CondorVersion: 25.14.1 2026-09-24 $")
        if rescue:
            self.say(f"USING RESCUE DAG {rescue}")
        if fresh:
            self.log.write_text("")
            self.say(f"MultiLogFiles: truncating log file {self.log}")
        else:
            self.say("Running in RECOVERY mode... ")
        return self

    def end(self, code: int = 0) -> None:
        self.say(f"**** condor_dagman (condor_DAGMAN) pid 7 EXITING WITH STATUS {code}")

    def say(self, text: str) -> None:
        """A line of `.dagman.out`."""
        when = time.strftime("%m/%d/%y %H:%M:%S", time.localtime(self.now))
        with open(self.out, "a", encoding="utf-8", errors="surrogateescape") as file:
            file.write(f"{when} {text}\n")

    def counts(self, total: int, *counts: int) -> None:
        """A status table: done, pre, queued, post, ready, unready, failed, futile."""
        self.say(f"Of {total} nodes total:")
        self.say(" Done     Pre   Queued    Post   Ready   Un-Ready   Failed   Futile")
        self.say("  ===     ===      ===     ===     ===        ===      ===      ===")
        self.say(" ".join(f"{count:>6}" for count in counts))

    def event(self, kind: int, text: str, job: str) -> None:
        """An event of the nodes log."""
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.now))
        fraction = int(self.now * 1000) % 1000
        with open(self.log, "a", encoding="utf-8", errors="surrogateescape") as file:
            file.write(f"{kind:03d} ({job}) {when}.{fraction:03d} {text}...\n")

    def submit(self, node: str, cluster: int, proc: int = 0) -> None:
        quoted = node.replace("\\", "\\\\").replace('"', '\\"')
        text = f'Job submitted from host: {HOST}\n    [ DAGNodeName = "{quoted}" ]\n'
        self.event(0, text, _job(cluster, proc))

    def execute(self, cluster: int, proc: int = 0, slot: str = "slot1@one") -> None:
        text = f"Job executing on host: {HOST}\n\tSlotName: {slot}\n"
        self.event(1, text, _job(cluster, proc))

    def terminate(self, cluster: int, proc: int = 0, value: int = 0) -> None:
        """`value`: exit code, or negative signal."""
        how = f"(1) Normal termination (return value {value})\n"
        if value < 0:
            how = f"(0) Abnormal termination (signal {-value})\n\t(0) No core file\n"
        text = f"Job terminated.\n\t{how}{USAGE}{BYTES}{TABLE}"
        self.event(5, text, _job(cluster, proc))

    def hold(self, cluster: int, proc: int = 0, reason: str = "no such file") -> None:
        text = f"Job was held.\n\t{reason}\n\tCode 13 Subcode 2\n"
        self.event(12, text, _job(cluster, proc))

    def abort(self, cluster: int, proc: int = 0, reason: str = "via condor_rm") -> None:
        self.event(9, f"Job was aborted.\n\t{reason}\n", _job(cluster, proc))

    def post(self, node: str, value: int, cluster: int = -1) -> None:
        """`cluster`: of the node's jobs, if there were any."""
        text = f"POST Script terminated.\n\t(1) Normal termination (return value {value})\n"
        job = _job(cluster, 0) if cluster >= 0 else "-01.-01.-01"
        self.event(16, f"{text}    DAG Node: {node}\n", job)

    def record(
        self,
        record: str,
        value: int = 0,
        cluster: int = -1,
        text: str = "why",
        node: str = "A",
        retry: int = 0,
    ) -> None:
        """A journal record of DAGMan's."""
        action = AppendJournalRecord(
            record, 0, retry=retry, value=value, text=text, cluster=cluster
        )
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.now))
        with open(self.log, "a") as file:
            file.write(record_event(when, node, action._replace(proc=0)))


def _job(cluster: int, proc: int) -> str:
    return f"{cluster:03d}.{proc:03d}.000"
