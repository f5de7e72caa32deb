"""Searches a nodes log for submit events of a run, where its lock file is empty."""

from __future__ import annotations

import os
import re

from condor_pydagman.adapters import own_files
from condor_pydagman.adapters.files import BLOCK_BYTES

_SUBMIT = re.compile(rb"^000 \((\d{1,10})\.", re.M)
_MAX_HEAD_BYTES = 32  # so that a head across two blocks is found


def has_submit_events(path: str, cluster: int, since: float = 0.0) -> bool:
    """Whether this nodes log has submit events of jobs that the DAGMan job `cluster` submitted.

    Their clusters have greater numbers than its own; those of an earlier run have smaller ones.
    `since` (seconds since the epoch): a log that was last written before is of an earlier run.
    False if the log can't be read, and if `cluster` is 0 (DAGMan runs by hand).
    """
    if not cluster:
        return False
    try:
        with os.fdopen(own_files.open_to_append(path, os.O_RDONLY), "rb") as log:
            if os.fstat(log.fileno()).st_mtime <= since:
                return False
            rest = b""
            while block := log.read(BLOCK_BYTES):
                text = rest + block
                if any(int(found[1]) > cluster for found in _SUBMIT.finditer(text)):
                    return True
                rest = text[-_MAX_HEAD_BYTES:]
    except OSError:
        pass
    return False
