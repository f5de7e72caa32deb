"""The engine: from a DAG and inputs to the actions that are due.  Pure and deterministic:
no clock, no files, no htcondor2.

Some of its modules may be compiled (`condor_pydagman.compiled`); FORM tells what runs.
"""

from __future__ import annotations

import condor_pydagman
from condor_pydagman.compiled import engine_path

_first, FORM = engine_path(condor_pydagman.__path__[0])
__path__ = [*_first, *__path__]
