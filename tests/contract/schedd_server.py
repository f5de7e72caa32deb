"""Uses the real schedd adapter for a test that may not: as root, the test can't submit jobs.

Reads requests from standard input, one a line, in JSON: `["submit", TEXT, DIRECTORY]`,
`["remove", CLUSTER, ENDED_PROC]`, `["remove but services"]`, `["jobs"]`, or the name and arguments
of another method of the adapter; answers each with a line.  Argument: DAGMan's cluster.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from condor_pydagman.adapters.schedd import LostReply, ScheddAdapter
from condor_pydagman.errors import PoolError


def answer(adapter: ScheddAdapter, request: list[Any]) -> Any:
    what, *words = request
    if what == "submit":
        return adapter.submit(*words)
    if what == "remove":
        cluster, ended = words
        return adapter.remove(
            "the test says so",
            cluster,
            ended=lambda jobs: [job for job in jobs if job.proc == ended],
        )
    if what == "remove but services":
        return adapter.remove("the test says so", spare_services=True)
    if what == "jobs":
        return [list(job) for job in adapter.jobs()]
    return getattr(adapter, what)(*words)


def main() -> None:
    adapter = ScheddAdapter(int(sys.argv[1]))
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
