"""A chain or a bag of /bin/true in Dask: python peers_dask.py chain|bag COUNT

Written to standard output: `tasks N`, the seconds of all tasks after the first, which waits for the
start of the cluster.  That is a LocalCluster of Dask's own choice for this machine.  A program of
its own, because it runs in the Python environment of the peers.
"""

from __future__ import annotations

import subprocess
import sys
import time

from distributed import Client


def true(before: object = None) -> int:
    """A task: the command, after the end of the task that it is given."""
    return subprocess.run(["/bin/true"], check=True).returncode


def main(kind: str, count: int) -> None:
    """Run it to its end; a task that fails raises."""
    with Client(dashboard_address=None) as client:
        made = [client.submit(true, pure=False)]
        client.gather(made)
        begin = time.perf_counter()
        for _ in range(count - 1):
            before = [made[-1]] if kind == "chain" else []
            made.append(client.submit(true, *before, pure=False))
        client.gather(made)
        print(f"tasks {time.perf_counter() - begin}")


if __name__ == "__main__":  # its workers import this file
    main(sys.argv[1], int(sys.argv[2]))
