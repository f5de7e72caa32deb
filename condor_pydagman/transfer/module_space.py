"""Allocations by a site's modules: space, bandwidth, whatever the module for a host can do.

`stork.allocate.NAME` (or `stork.reserve.NAME`, as Stork's source has it) is called with

    dest_host allocation_id size duration arguments...

and `stork.release.NAME` with

    dest_host allocation_id arguments...

NAME is the host of `dest_host`, else its protocol if it is a URL (`file` if it is a directory).
Size is in bytes, duration in seconds; 0 is none.  Both may be called again with the same id, when
it is not known how the first call ended.
"""

from __future__ import annotations

import os
import re
from typing import Union

from condor_pydagman.data_requests.requests import Allocate, Release
from condor_pydagman.data_requests.urls import LOCAL, Url, parse_url
from condor_pydagman.transfer import child_process, site_modules
from condor_pydagman.transfer.rules.faults import Fault, FaultKind
from condor_pydagman.transfer.way import Progress, Surroundings

_WORDS = {Allocate: ("allocate", "reserve"), Release: ("release",)}
_HOST = re.compile(r"[A-Za-z0-9_][\w.-]*(?::\d+)?", re.ASCII)

Request = Union[Allocate, Release]


def space_module(request: Request, surroundings: Surroundings) -> str:
    """Path of the module for an allocation or a release; '' if there is none.

    Raises:
        Fault: there is one, but it can't be run safely, or `dest_host` is wrong.
    """
    names = _names(request)
    path, reason = site_modules.find(names, surroundings.settings.module_directories)
    if not path and not reason.startswith("no "):
        raise Fault(FaultKind.MODULE, reason, transient=False)
    return path


def manage_space(request: Request, surroundings: Surroundings, progress: Progress) -> str:
    """Run the module; what a person reads: "module stork.allocate.nest".

    Raises:
        Fault: it failed, or there is none.
    """
    path = space_module(request, surroundings)
    if not path:
        raise Fault(FaultKind.MODULE, f"there is no {_names(request)[0]} any more", transient=False)
    url = _destination(request.host)
    numbers = (
        [str(request.size), f"{request.duration_s:.0f}"] if isinstance(request, Allocate) else []
    )
    ended = child_process.run(
        [path, _argument(request.host, url), request.allocation_id, *numbers, *request.arguments],
        site_modules.environment(surroundings, {"STORK_DEST_HOST": request.host}),
        surroundings.directory,
        progress,
        timeout_s=surroundings.settings.module_timeout_s,
    )
    name = os.path.basename(path)
    if ended.code:
        raise site_modules.fault_of(name, ended, url.server, url)
    return f"module {name}"


def _argument(host: str, url: Url) -> str:
    """`dest_host` as it was written, but for secrets."""
    return site_modules.argument(url) if "://" in host and url.scheme != LOCAL else host


def _names(request: Request) -> list[str]:
    url = _destination(request.host)
    names = list(dict.fromkeys(filter(None, (url.server, url.host, url.scheme))))
    return [f"stork.{word}.{name}" for name in names for word in _WORDS[type(request)]]


def _destination(host: str) -> Url:
    """A host, URL or directory; a host alone has no scheme."""
    if _HOST.fullmatch(host):
        name, _, port = host.lower().partition(":")
        return Url("", "/", name, int(port or 0))
    try:
        return parse_url(host)
    except ValueError as error:
        raise Fault(FaultKind.REQUEST, f"dest_host: {error}") from None
