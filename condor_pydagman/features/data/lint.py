"""What the checker finds in the requests of DATA nodes by the configuration of DAGMan."""

from __future__ import annotations

from condor_pydagman.adapters.knobs import lookup
from condor_pydagman.config import Config
from condor_pydagman.data_requests import settings, space
from condor_pydagman.data_requests.requests import Allocate


def space_problem(request: Allocate, config: Config) -> str:
    """Why an allocation can't be made; '' if it can."""
    return space.space_problem(request, settings.settings_of(config, lookup))
