"""Looks at a run for a cell of a notebook, in a process of its own; prints what it sees as JSON.

In the kernel's own process the user's code would suffer: what reads a DAG changes the working
directory, and HTCondor's bindings stop all threads while they wait for the schedd.  The process
ends with the run and with the kernel: its standard input is closed then, unless a child of the
kernel has that open as well, so it looks for its parent too.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

from condor_pydagman.api.run_glance import Glance
from condor_pydagman.api.run_identity import RunIdentity
from condor_pydagman.errors import PydagmanError
from condor_pydagman.printable import printable_lines

SHARE = 10  # a look may take one part in so many of the time until the next


def main() -> int:
    """Do what the order on standard input says: `dag`, `interval` (null for one look), and
    `kernel`, the process that has started this one; returns the exit code."""
    order = json.loads(sys.stdin.readline())
    last: Mapping[str, str] = {}
    for seen in looks(order):
        if seen != last:
            print(json.dumps(seen), flush=True)
        last = seen
    return 0


def looks(order: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """What is to be shown, again and again, until the run has ended or nobody wants it."""
    try:
        glance = Glance(RunIdentity(order["dag"]).found())
        while True:
            begun = time.thread_time()
            yield glance.look()
            if glance.over or order["interval"] is None:
                return
            cost = time.thread_time() - begun
            pause = max(order["interval"], cost * SHARE)
            if select.select([sys.stdin], [], [], pause)[0] or os.getppid() != order["kernel"]:
                return
    except PydagmanError as error:
        yield {"text/plain": printable_lines(str(error))}
