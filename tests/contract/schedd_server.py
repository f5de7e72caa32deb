"""Uses the real schedd adapter for a test that may not: as root, the test can't submit jobs.

Reads requests from standard input, one a line, in JSON: `["submit", TEXT, DIRECTORY]`,
`["remove", CLUSTER, ENDED_PROC, FORCE]`, `["hold", CLUSTER, RELEASE]`, `["jobs"]`, `["limits"]`,
`["remove but services"]`, or the name and arguments of another method of the adapter; answers each
with a line.
Arguments: DAGMan's cluster, and `adapter`, or `process` to have them done by the process that asks
the schedd for DAGMan.
"""

from __future__ import annotations

import json
import os
import select
import sys
from typing import Any

from condor_pydagman.adapters import schedd_requests as ask
from condor_pydagman.adapters.schedd import ScheddAdapter
from condor_pydagman.adapters.schedd_process import ScheddProcess
from condor_pydagman.adapters.schedd_requests import LostReply
from condor_pydagman.engine.actions import HoldJobs, SubmitNode
from condor_pydagman.engine.inputs import EndedJob, QueuedJob
from condor_pydagman.errors import PoolError
from condor_pydagman.vocabulary import ALL_PROCS, DagStatus

ACTION = SubmitNode(0, 0, DagStatus.OK, 0)


class ByProcess:
    """The methods of the adapter, each as a request to the process."""

    def __init__(self, adapter: ScheddAdapter) -> None:
        self._process = ScheddProcess(adapter)

    def submit(self, text: str, directory: str) -> tuple[int, int]:
        result = self._result(ask.Submit(ACTION, text, directory, ask.Checks()))
        if isinstance(result.outcome, PoolError):
            raise result.outcome
        return result.outcome.cluster, result.outcome.procs

    def removable(
        self, cluster: int = 0, *, spare_services: bool = False, proc: int = ALL_PROCS
    ) -> list[QueuedJob]:
        wanted = ask.ListRemovable(cluster, spare_services, proc)
        found: list[QueuedJob] = self._result(wanted)
        return found

    def remove(self, reason: str, cluster: int = 0, **how: Any) -> None:
        self._result(ask.Remove(reason, cluster, **how))

    def hold(self, cluster: int, proc: int, reason: str, *, release: bool) -> None:
        self._result(HoldJobs(cluster, proc, reason, release))

    def ended_jobs(self) -> list[EndedJob]:
        return list(self._result(ask.ListQueue(history=True)).ended)

    def attribute(self, cluster: int, name: str) -> Any:
        return self._result(ask.ReadAttribute(cluster, name))

    def publish(self, attributes: dict[str, str]) -> None:
        self._result(ask.EditOwnAd(attributes))

    def listing(self) -> ask.Listing:
        found: ask.Listing = self._result(ask.ListQueue())
        return found

    def own_ad(self) -> Any:
        return self._result(ask.ReadOwnAd())

    def _result(self, request: ask.Request) -> Any:
        results: list[Any] = []
        self._process.ask(request, results.append)
        while not results:
            if not self._process.ready:
                select.select([self._process], [], [])
            self._process.deliver()
        if isinstance(results[0], PoolError):
            raise results[0]
        return results[0]


def answer(adapter: Any, request: list[Any]) -> Any:
    what, *words = request
    if what == "remove":
        cluster, ended, force = words
        left_out = [job[:2] for job in adapter.removable(cluster) if job.proc == ended]
        return adapter.remove("the test says so", cluster, ended=left_out, force=force)
    if what == "hold":
        cluster, release = words
        return adapter.hold(cluster, ALL_PROCS, "the test says so", release=release)
    if what == "remove but services":
        return adapter.remove("the test says so", spare_services=True)
    if what == "jobs":
        return [list(job) for job in adapter.listing().jobs]
    if what == "limits":
        return dict(adapter.listing().limits)
    if what == "ended_jobs":
        return [list(job) for job in adapter.ended_jobs()]
    return getattr(adapter, what)(*words)


def main() -> None:
    adapter: Any = ScheddAdapter(int(sys.argv[1]))
    adapter = adapter if sys.argv[2] == "adapter" else ByProcess(adapter)
    for line in sys.stdin:
        try:
            reply = {"ok": answer(adapter, json.loads(line))}
        except PoolError as error:
            unknown = isinstance(error, LostReply)
            reply = {"error": error.reason, "transient": error.transient, "unknown": unknown}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    os.umask(0)
    main()
