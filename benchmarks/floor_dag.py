"""The fastest that anybody runs a DAG on the bindings: no files, no retries, no recovery.

    python floor_dag.py FILE LOG

FILE has `nodes`, node -> submit description, and `edges`, each of some parents with each of some
children.  A node is submitted at once when its last parent has ended.  A program of its own,
because it must run as the pool's user.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import htcondor2

EVENT_TIMEOUT_S = 600  # without an event


def main(file: str, log: str) -> None:
    """Run the DAG to its end; the log tells how fast it went."""
    dag = json.loads(Path(file).read_text(encoding="ascii"))
    children: dict[str, list[str]] = {}
    waits_for = dict.fromkeys(dag["nodes"], 0)
    for some, more in dag["edges"]:
        for parent in some:
            children.setdefault(parent, []).extend(more)
        for child in more:
            waits_for[child] += len(some)
    schedd = htcondor2.Schedd()
    descriptions: dict[str, htcondor2.Submit] = {}
    node_of: dict[int, str] = {}

    def submit(node: str) -> None:
        text = dag["nodes"][node]
        if text not in descriptions:
            descriptions[text] = htcondor2.Submit(f"{text}log = {log}\nqueue\n")
        node_of[schedd.submit(descriptions[text]).cluster()] = node

    for node, parents in waits_for.items():
        if not parents:
            submit(node)
    left = len(waits_for)
    for event in htcondor2.JobEventLog(log).events(EVENT_TIMEOUT_S):
        if event.type == htcondor2.JobEventType.JOB_TERMINATED:
            left -= 1
            for child in children.get(node_of[event.cluster], ()):
                waits_for[child] -= 1
                if not waits_for[child]:
                    submit(child)
            if not left:
                return
    sys.exit(f"no event for {EVENT_TIMEOUT_S} s; {left} nodes have not ended")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
