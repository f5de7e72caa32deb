"""The configuration knobs that DAGMan obeys: one table, read once at start.

Where the values come from (the bindings' `param`, the environment, a CONFIG file) is an adapter's
business.
"""

from __future__ import annotations

from condor_pydagman.config.knob import Kind, Knob
from condor_pydagman.config.reading import effective_limit, read, read_one, under
from condor_pydagman.config.table import Config, knobs

__all__ = ["Config", "Kind", "Knob", "effective_limit", "knobs", "read", "read_one", "under"]
