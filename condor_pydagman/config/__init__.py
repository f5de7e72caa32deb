"""The configuration knobs of DAGMan: one table, read once at start.

Where the values come from (the bindings' `param`, the environment, a CONFIG file) is an adapter's
business.
"""

from __future__ import annotations

from condor_pydagman.config.knob import Kind, Knob
from condor_pydagman.config.table import (
    FORMER,
    Config,
    effective_limit,
    knobs,
    limited_by,
    read,
    read_one,
)

__all__ = [
    "FORMER",
    "Config",
    "Kind",
    "Knob",
    "effective_limit",
    "knobs",
    "limited_by",
    "read",
    "read_one",
]
