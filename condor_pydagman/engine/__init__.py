"""The engine: from a DAG and inputs to the actions that are due.  Pure and deterministic:
no clock, no files, no htcondor2.

Some of its modules may be compiled (`condor_pydagman.compiled`); FORM tells what runs.
"""

from __future__ import annotations

from condor_pydagman.compiled import form

FORM = form(__path__[0])
