"""The fastest that anybody submits jobs: a bare loop over Schedd.submit.

    python floor.py COUNT LOG DESCRIPTION JOBS_A_CLUSTER

A program of its own, because it must run as the pool's user.  The log is given as DAGMan gives its
nodes log, if the description is one of a DAG's job: jobs have one log in either case.
"""

from __future__ import annotations

import sys

import htcondor2

from condor_pydagman.adapters.schedd import keep_none_alive


def main(count: int, log: str, jobs: str, cluster: int) -> None:
    """Submit, so many jobs in each cluster; the log tells how fast it went."""
    keep_none_alive()  # without it Python 3.9 to 3.11 aborts after some 5,000 submits
    schedd = htcondor2.Schedd()
    key = "dagman_log" if "dag_node_name" in jobs else "log"
    text = f"{jobs}{key} = {log}\n"
    if cluster == 1:
        description = htcondor2.Submit(f"node = N1\n{text}queue\n")
        for _ in range(count):
            schedd.submit(description)
        return
    description = htcondor2.Submit(text)
    for first in range(0, count, cluster):
        some = range(first, min(first + cluster, count))
        schedd.submit(description, itemdata=iter([{"node": f"N{number}"} for number in some]))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]))
