"""Starts of a DAGMan in a temporary directory, with a fake schedd."""

from __future__ import annotations

import os
import select
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.adapters.control_socket import ControlSocket
from condor_pydagman.adapters.outlog import OutLog
from condor_pydagman.config import Config
from condor_pydagman.daemon import startup
from condor_pydagman.daemon.initialize import Settings
from condor_pydagman.daemon.run import DagRun
from condor_pydagman.dagman_job.options import DagmanOptions, parse_dagman
from condor_pydagman.errors import PoolError

STARTED = 1000.0  # seconds
KNOBS = Config(avoid_slash_tmp=False)  # tests work there


class Schedd:
    """A fake of ScheddAdapter for a start.

    Attributes:
        ad: DAGMan's own; None while the schedd does not answer.
        edits: what was set in it.
        processes: how many were started that would ask the schedd from then on.
        answers: what it answers to edits by that process, in order; None is success.
        seen: what `look` gives when each of these edits is answered.
    """

    def __init__(self, ad: Mapping[str, object] | None = None) -> None:
        self.ad = ad
        self.edits: dict[str, str] = {}
        self.asked = 0
        self.logs: list[str] = []
        self.holds: list[tuple[int, int, str]] = []
        self.processes = 0
        self.credentials = True
        self.answers: list[PoolError | None] = []
        self.seen: list[bool] = []
        self.look: Callable[[], bool] = lambda: False
        self._asked: list[tuple[Any, Callable[[Any], None]]] = []
        self._reader, self._writer = os.pipe()

    def fileno(self) -> int:
        return self._reader

    def ask(self, request: Any, then: Callable[[Any], None]) -> None:
        self._asked.append((request, then))

    def deliver(self) -> None:
        """Answer, if there is an answer, at the second call."""
        if not self._asked:
            return
        if not select.select([self._reader], [], [], 0)[0]:
            os.write(self._writer, b"x")
        elif self.answers:
            os.read(self._reader, 1)
            answer = self.answers.pop(0)
            request, then = self._asked.pop(0)
            self.seen.append(self.look())
            if answer is None:
                self.edits.update(request.attributes)
            then(answer)

    def __call__(self, cluster: int, warn: Any) -> Schedd:
        self.cluster = cluster
        return self

    def process(self, adapter: Schedd) -> Schedd:
        """Instead of ScheddProcess."""
        assert adapter is self
        return self

    def start(self) -> None:
        self.processes += 1

    def own_ad(self) -> dict[str, object]:
        self.asked += 1
        if self.ad is None:
            raise PoolError("no answer", transient=True)
        return dict(self.ad) if self.cluster else {}

    def own_expressions(self, names: Any) -> dict[str, str]:
        return {}

    def publish(self, attributes: Mapping[str, str], *, durable: bool = False) -> None:
        if self.ad is None:
            raise PoolError("no answer", transient=True)
        self.edits.update(attributes)

    def hold(self, cluster: int, proc: int, reason: str) -> None:
        self.holds.append((cluster, proc, reason))

    def select_by_log(self, nodes_log: str) -> None:
        self.logs.append(nodes_log)


class Place:
    """A directory with a DAG file, where DAGMan is started."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, directory: Path, schedd: Schedd) -> None:
        monkeypatch.chdir(directory)
        monkeypatch.setattr(startup, "ScheddAdapter", schedd)
        monkeypatch.setattr(startup, "ScheddProcess", schedd.process)
        monkeypatch.setattr(startup.time, "sleep", lambda seconds: None)
        monkeypatch.delenv("CONDOR_ID", raising=False)
        self._patch = monkeypatch
        self.sockets: list[ControlSocket] = []  # for whoever opens some to close them
        self.schedd = schedd
        self.dag("JOB A a.sub\nJOB B a.sub\nPARENT A CHILD B\n")
        Path("a.sub").write_text("executable = a\nqueue\n")

    def dag(self, text: str) -> None:
        Path("t.dag").write_text(text)

    def set_job_id(self, cluster: int) -> None:
        """DAGMan is a job of the schedd."""
        self._patch.setenv("CONDOR_ID", f"{cluster}.0")

    def options(self, *words: str) -> DagmanOptions:
        return parse_dagman(["-Dag", "t.dag", *words])

    def out(self) -> OutLog:
        return OutLog("t.dag.dagman.out")

    def prepare(self, *words: str, has_to_leave: Callable[[], bool] = lambda: False) -> DagRun:
        """A run up to its first input."""
        out, options = self.out(), self.options(*words)
        try:
            run = startup.prepare(Settings(options, KNOBS, KNOBS), out, STARTED, has_to_leave)
        finally:
            out.flush()
        if run.contact is not None and run.contact.socket is not None:
            self.sockets.append(run.contact.socket)
        return run

    def release_lock(self, run: DagRun) -> None:
        """Release the lock as a killed process does: the lock file stays."""
        lock: Any = run.lock
        lock._close()

    def said(self) -> str:
        return Path("t.dag.dagman.out").read_text()
