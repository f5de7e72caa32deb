"""The runs of a DAG before its last one, read from `.dagman.out`."""

from __future__ import annotations

import heapq
import time
from operator import attrgetter

from condor_pydagman.adapters.local_time import logged_minute
from condor_pydagman.monitor.followed_file import FollowedFile
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.records.dagman_out import BEGIN_OF_RUN, out_lines
from condor_pydagman.records.dagman_out_jobs import job_lines
from condor_pydagman.trace.local_times import LocalTimes
from condor_pydagman.trace.past_runs import PastRuns
from condor_pydagman.trace.run_history import Run

_BLOCK_BYTES = 4 << 20


def earlier_runs(found: FoundDag) -> list[Run]:
    """Those before the last, oldest first."""
    file = FollowedFile(found.out, b"\n")
    end = file.line_of_last(*BEGIN_OF_RUN)
    times = LocalTimes(logged_minute, time.localtime().tm_year)
    runs = PastRuns()
    while file.offset < end:
        begin = file.offset
        data = file.read(min(_BLOCK_BYTES, end - begin))
        if not data:
            break
        told = out_lines(data, begin, times.seconds), job_lines(data, begin, times.seconds)
        runs.take(heapq.merge(*told, key=attrgetter("end")))
    return runs.close()
