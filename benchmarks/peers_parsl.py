"""A chain or a bag of /bin/true in Parsl: python peers_parsl.py htex|threads chain|bag COUNT

Written to standard output: `tasks N`, the seconds of all tasks after the first, which waits for the
start of the workers.  Both executors are those that Parsl's documentation names for one machine.  A
program of its own, because it runs in the Python environment of the peers.
"""

from __future__ import annotations

import os
import sys
import time

import parsl
from parsl.config import Config
from parsl.executors import HighThroughputExecutor, ThreadPoolExecutor
from parsl.providers import LocalProvider


@parsl.bash_app
def true(inputs: list[object] = []) -> str:  # noqa: B006, Parsl's own way, which it replaces
    """Parsl runs the command that this returns, after the ends of its inputs."""
    return "/bin/true"


def main(executor: str, kind: str, count: int) -> None:
    """Run it to its end; a task that fails raises."""
    cores = os.cpu_count() or 1
    if executor == "htex":
        chosen = HighThroughputExecutor(
            label="htex",
            address="127.0.0.1",
            max_workers_per_node=cores,
            provider=LocalProvider(init_blocks=1, max_blocks=1),
        )
    else:
        chosen = ThreadPoolExecutor(max_threads=cores)
    with parsl.load(Config(executors=[chosen], run_dir="runinfo")):
        made = [true()]
        made[0].result()
        begin = time.perf_counter()
        for _ in range(count - 1):
            made.append(true(inputs=[made[-1]] if kind == "chain" else []))
        for one in made:
            one.result()
        print(f"tasks {time.perf_counter() - begin}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
