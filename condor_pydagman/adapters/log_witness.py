"""What a nodes log says about a run whose lock file says nothing."""

from __future__ import annotations

import os
import re

from condor_pydagman.adapters import own_files
from condor_pydagman.adapters.files import BLOCK

_SUBMIT = re.compile(rb"^000 \((\d{1,10})\.", re.M)
_HEAD_MAX = 32  # bytes: a head that two blocks share is found all the same


def shows_jobs_of(path: str, cluster: int, since: float = 0.0) -> bool:
    """Whether the DAGMan job `cluster` has submitted jobs that this nodes log tells of.

    They came after it, so their clusters have greater numbers; those of a run before have smaller
    ones.  `since`: a log that was last written before that (seconds) tells of a run before.
    False if the log can't be read, and for a DAGMan that is no job.
    """
    if not cluster:
        return False
    try:
        with os.fdopen(own_files.open_to_add(path, os.O_RDONLY), "rb") as log:
            if os.fstat(log.fileno()).st_mtime <= since:
                return False
            rest = b""
            while block := log.read(BLOCK):
                text = rest + block
                if any(int(found[1]) > cluster for found in _SUBMIT.finditer(text)):
                    return True
                rest = text[-_HEAD_MAX:]
    except OSError:
        pass
    return False
