"""Shows the progress of a DATA node in its job's ad, while it runs: `condor_q -af PlacementBytes`.

The bindings block the process that calls them, and take memory and time to load; so a child process
makes the calls, and only for workers that run for a while.  It ends with the worker.
"""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from collections.abc import Mapping

from condor_pydagman.adapters.python_child import python_command

FIRST_UPDATE_S = 3.0  # a worker that ends before shows nothing
UPDATE_INTERVAL_S = 10.0
_MAX_AD = 1024 * 1024  # bytes of the job's ad that are searched for its id


class JobAdPublisher:
    """Hands attributes to the child process.

    Args:
        job: "cluster.proc"; '' if the worker is no job.
    """

    def __init__(self, job: str) -> None:
        self._job = job
        self._child: subprocess.Popen[bytes] | None = None

    def publish(self, attributes: Mapping[str, str]) -> None:
        """Set attributes, name to expression, as soon as the schedd takes them."""
        if not self._job:
            return
        with contextlib.suppress(OSError, ValueError):
            if self._child is None:
                self._child = _start(self._job)
            assert self._child.stdin is not None
            self._child.stdin.write(json.dumps(dict(attributes)).encode() + b"\n")
            self._child.stdin.flush()

    def finish(self, timeout_s: float) -> None:
        """Wait until the schedd has been told all, but not for longer."""
        if self._child is not None:
            assert self._child.stdin is not None
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                self._child.stdin.close()
                self._child.wait(timeout_s)
        self.close()

    def close(self) -> None:
        """End the child; what it has not told the schedd yet is lost."""
        if self._child is not None:
            self._child.kill()
            self._child.wait()
            assert self._child.stdin is not None
            with contextlib.suppress(OSError):
                self._child.stdin.close()


def own_job(ad_path: str) -> tuple[int, int]:
    """Cluster and proc of the job whose ad is in that file (`_CONDOR_JOB_AD`); (0, 0) if none."""
    try:
        with open(ad_path, encoding="utf-8", errors="replace") as file:
            text = file.read(_MAX_AD)
    except OSError:
        return 0, 0
    found = [
        re.search(rf"(?im)^{name} = (\d{{1,9}})\s*$", text) for name in ("ClusterId", "ProcId")
    ]
    cluster, proc = (int(one[1]) if one else 0 for one in found)
    return cluster, proc


def main(job: str) -> None:
    """The child process: one line of standard input is one edit."""
    import htcondor2

    schedd = htcondor2.Schedd()
    for line in sys.stdin:
        for name, value in json.loads(line).items():
            with contextlib.suppress(htcondor2.HTCondorException, ValueError):
                schedd.edit([job], name, value)


def _start(job: str) -> subprocess.Popen[bytes]:
    null = subprocess.DEVNULL
    words = python_command(f"from {__name__} import main; main(sys.argv[1])", job)
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=null, stderr=null)  # noqa: S603
