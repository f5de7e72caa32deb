"""A chain or a bag of /bin/true in HyperQueue: python peers_hyperqueue.py chain|bag COUNT

Written to standard output: `tasks N`, the seconds of all tasks after the first, which waits for the
start of the worker.  Server and worker are those of its Python interface, the worker with CORES.
All tasks are one job; its client asks once in a second whether that has ended, which is in the
figure.  A program of its own, because it runs in the Python environment of the peers.
"""

from __future__ import annotations

import os
import sys
import time

from hyperqueue import Client, Job, LocalCluster
from hyperqueue.cluster import WorkerConfig

CORES = 8  # HyperQueue's own count of what runs at a time, which may exceed the machine's


def run(client: Client, kind: str, count: int) -> None:
    """Run so many tasks to their end; one that fails raises."""
    job = Job(default_workdir=os.getcwd())
    before: list[object] = []
    for _ in range(count):
        task = job.program(["/bin/true"], stdout=None, stderr=None, deps=before)
        before = [task] if kind == "chain" else []
    client.wait_for_jobs([client.submit(job)])


def main(kind: str, count: int) -> None:
    """Run it to its end."""
    with LocalCluster(os.path.abspath("server"), WorkerConfig(CORES)) as cluster:
        client = cluster.client()
        run(client, kind, 1)
        begin = time.perf_counter()
        if count > 1:
            run(client, kind, count - 1)
        print(f"tasks {time.perf_counter() - begin}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
