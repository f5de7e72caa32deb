"""Sites for a scene: their descriptions, the monitor that publishes them, and what is listed of
them."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.pool.scenes import Scene
from tests.pool.waiting import until
from tests.waiting import LIMIT_S

KNOBS = "PYDAGMAN_SITES_INTERVAL = 1\nPYDAGMAN_SITES_DIR = {claims}\n"


class Sites:
    """The sites of a scene, of which no other scene's DAG knows."""

    def __init__(self, s: Scene, **most: int) -> None:
        self.scene = s
        self.directory = s.work / "sites"
        self.directory.mkdir()
        for name, value in most.items():
            self.write(name, value)
        (s.work / "claims").mkdir()
        (s.work / "claims").chmod(0o1777)
        (s.work / "t.config").write_text(KNOBS.format(claims=s.work / "claims"))
        self.publish()

    def write(self, name: str, most: int, more: str = "", area: str = "") -> None:
        area = area or f"/{name}"
        own = f'Scene = "{self.scene.work.name}"\nSiteEnvironment = "AREA={area}"\n{more}'
        text = f'Name = "{self.full(name)}"\nMaxMatches = {most}\n{own}'
        (self.directory / f"{name}.ad").write_text(text)

    def full(self, name: str) -> str:
        """Names are unique in the collector, which all scenes share."""
        return f"{name}-{self.scene.work.name}"

    def publish(self) -> str:
        # No ad runs out while a scene runs: it lasts three intervals.
        done = self.monitor("--once", "--interval", str(LIMIT_S))
        assert done.returncode == 0, done.stdout + done.stderr
        return str(done.stdout)

    def monitor(self, *words: str) -> subprocess.CompletedProcess[str]:
        argv = ("condor_pydagman", "sites", "monitor", str(self.directory), *words)
        return self.scene.access_point.run(*argv, check=False)

    @contextlib.contextmanager
    def monitored(self) -> Iterator[Callable[[], None]]:
        """With a monitor that has made a round; a call of what this gives begins the next one."""
        monitor = self._start()
        try:
            until(lambda: self.scene.text("monitor.out"), "the first round of the monitor")
            yield lambda: monitor.send_signal(signal.SIGHUP)
        finally:
            monitor.terminate()
            code = monitor.wait(LIMIT_S)
        assert code == 0, self.scene.text("monitor.out")

    def _start(self) -> subprocess.Popen[bytes]:
        words = ["condor_pydagman", "sites", "monitor", str(self.directory)]
        words += ["--interval", str(LIMIT_S), "--probe-timeout", str(LIMIT_S)]
        pool = self.scene.access_point
        with (self.scene.work / "monitor.out").open("wb") as output:
            return subprocess.Popen(
                pool.pool.command(words), env=pool.environment, stdout=output, stderr=output
            )

    def listed(self) -> dict[str, dict[str, Any]]:
        """What `sites list` has of them, by name."""
        environment = {"_CONDOR_PYDAGMAN_SITES_DIR": str(self.scene.work / "claims")}
        done = self.scene.access_point.run(
            "condor_pydagman", "sites", "list", "--json", environment=environment
        )
        rows = {row["name"]: row for row in json.loads(done.stdout)}
        return {name: rows[name] for name in rows if name.endswith(f"-{self.scene.work.name}")}


def dag_text(s: Scene, body: str, policy: str = "") -> str:
    own = f'SITE_POLICY ALL_GROUPS REQUIREMENTS TARGET.Scene == "{s.work.name}"\n'
    return f"CONFIG t.config\n{body}{own}{policy}"


def lines(work: Path, name: str) -> list[str]:
    path = work / name
    return path.read_text().splitlines() if path.exists() else []
