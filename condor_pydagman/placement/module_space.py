"""Allocations by a site's modules: space, bandwidth, whatever the module for a host can do.

`stork.allocate.NAME` (see `data_requests.space`) is called with

    dest_host allocation_id size duration arguments...

and `stork.release.NAME` with

    dest_host allocation_id arguments...

Size is in bytes, duration in seconds; 0 is none.  Both may be called again with the same id, when
it is not known how the first call ended.
"""

from __future__ import annotations

import os

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.requests import Allocate
from condor_pydagman.data_requests.space import Request, module_names, server_of, space_module
from condor_pydagman.data_requests.urls import LOCAL
from condor_pydagman.placement import child_process, site_modules
from condor_pydagman.placement.way import Progress, Surroundings


def manage_space(request: Request, surroundings: Surroundings, progress: Progress) -> str:
    """Run the module; what a person reads: "module stork.allocate.nest".

    Raises:
        Fault: it failed, or there is none.
    """
    path = space_module(request, surroundings.settings.module_directories)
    if not path:
        reason = f"there is no {module_names(request)[0]} any more"
        raise Fault(FaultKind.MODULE, reason, transient=False)
    url, host = server_of(request.host), request.host
    if "://" in host and url.scheme != LOCAL:
        host = site_modules.argument(url)  # without secrets
    numbers = (
        [str(request.size), f"{request.duration_s:.0f}"] if isinstance(request, Allocate) else []
    )
    ended = child_process.run(
        [path, host, request.allocation_id, *numbers, *request.arguments],
        site_modules.environment(surroundings, {"STORK_DEST_HOST": request.host}),
        surroundings.directory,
        progress,
        timeout_s=surroundings.settings.module_timeout_s,
    )
    name = os.path.basename(path)
    if ended.code:
        raise site_modules.fault_of(name, ended, url.server, url)
    return f"module {name}"
