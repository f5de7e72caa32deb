"""The name under which DAGMans and workers of an earlier version start modules of `placement`."""

from condor_pydagman.placement import __path__ as __path__
