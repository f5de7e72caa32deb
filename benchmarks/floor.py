"""The fastest that anybody submits jobs one by one: a bare loop over Schedd.submit.

    python floor.py COUNT LOG DESCRIPTION

A program of its own, because it must run as the pool's user.  The log is given as DAGMan gives its
nodes log, if the description is one of a DAG's job: jobs have one log in either case.
"""

from __future__ import annotations

import sys

import htcondor2


def main(count: int, log: str, jobs: str) -> None:
    """Submit; the log tells how fast it went."""
    schedd = htcondor2.Schedd()
    key = "dagman_log" if "dag_node_name" in jobs else "log"
    description = htcondor2.Submit(f"{jobs}{key} = {log}\nqueue\n")
    for _ in range(count):
        schedd.submit(description)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3])
