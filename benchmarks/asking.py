"""Ask DAGMans for their state, and tell how long each answer took: DAG files on standard input, and
seconds on standard output, a line each.

A program of its own, since a DAGMan answers its own user only, and one that goes on, since Python
takes as long to start as an answer takes to come.
"""

from __future__ import annotations

import sys
import time

from condor_pydagman.adapters.request_client import steer

if __name__ == "__main__":
    for line in sys.stdin:
        begin = time.perf_counter()
        steer(line.strip(), "info")
        print(time.perf_counter() - begin, flush=True)
