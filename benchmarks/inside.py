"""Run commands one after the other as the pool's user, and tell how long each took.

    python inside.py < JSON

Read from standard input: a list of `[argv, directory]`.  Written: a list of `[seconds, exit code,
what it said]`.  A program of its own: to become the pool's user takes as long as some commands do.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time


def run(argv: list[str], directory: str) -> tuple[float, int, str]:
    """Time by the clock from start to end, exit code, and output."""
    begin = time.perf_counter()
    done = subprocess.run(
        argv,
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    seconds = time.perf_counter() - begin
    return seconds, done.returncode, done.stdout.decode(errors="replace")


if __name__ == "__main__":
    print(json.dumps([run(argv, directory) for argv, directory in json.load(sys.stdin)]))
