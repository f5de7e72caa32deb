"""Who makes an allocation: a module of the site's, or DAGMan's own ledger within a capacity.

Modules are called `stork.allocate.NAME` (or `stork.reserve.NAME`, as Stork's source has it) and
`stork.release.NAME`.  NAME is the host of `dest_host`, else its protocol if it is a URL (`file` if
it is a directory).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Union

from condor_pydagman.data_requests.destinations import capacity_of, normal_destination
from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.requests import Allocate, Release
from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.data_requests.site_programs import find
from condor_pydagman.data_requests.urls import Url, parse_url
from condor_pydagman.printable import size_text

_WORDS = {Allocate: ("allocate", "reserve"), Release: ("release",)}
_HOST = re.compile(r"[A-Za-z0-9_][\w.-]*(?::\d+)?", re.ASCII)

Request = Union[Allocate, Release]


def space_problem(request: Allocate, settings: Settings) -> str:
    """Why an allocation can't be made, whatever is free; '' if it can."""
    try:
        if not space_module(request, settings.module_directories):
            capacity_for(request, normal_destination(request.host), settings.capacities)
    except Fault as fault:
        return fault.reason
    return ""


def space_module(request: Request, directories: Sequence[str]) -> str:
    """Path of the module for an allocation or a release, in one of the site's `directories`; '' if
    there is none.

    Raises:
        Fault: there is one, but it can't be run safely, or `dest_host` is wrong.
    """
    path, reason = find(module_names(request), directories)
    if not path and not reason.startswith("no "):
        raise Fault(FaultKind.MODULE, reason, transient=False)
    return path


def module_names(request: Request) -> list[str]:
    """Names that the module for an allocation or a release may have, the best first."""
    url = server_of(request.host)
    names = list(dict.fromkeys(filter(None, (url.server, url.host, url.scheme))))
    return [f"stork.{word}.{name}" for name in names for word in _WORDS[type(request)]]


def server_of(host: str) -> Url:
    """A host, URL or directory as a URL; that of a host alone has no scheme.

    Raises:
        Fault: it is none of them.
    """
    if _HOST.fullmatch(host):
        name, _, port = host.lower().partition(":")
        return Url("", "/", name, int(port or 0))
    try:
        return parse_url(host)
    except ValueError as error:
        raise Fault(FaultKind.REQUEST, f"dest_host: {error}") from None


def capacity_for(
    request: Allocate, destination: str, capacities: Sequence[tuple[str, int]]
) -> tuple[str, int]:
    """As `capacity_of`, for an allocation that no module of the site makes.

    Raises:
        Fault: it can't be made, whatever is free.
    """
    if request.size <= 0:
        reason = "an allocation needs a size, unless a module of the site makes it"
        raise Fault(FaultKind.REQUEST, reason)
    found = capacity_of(destination, capacities)
    if found is None:
        known = ", ".join(f"{name} ({size_text(size)})" for name, size in capacities)
        raise Fault(
            FaultKind.ALLOCATION,
            f"no space of {destination} can be allocated: the administrator sets"
            f" PYDAGMAN_PLACEMENT_CAPACITY, and has set {known or 'none'}",
        )
    if request.size > found[1]:
        raise Fault(
            FaultKind.NO_SPACE,
            f"{size_text(request.size)} are more than all of {found[0]}, {size_text(found[1])}",
        )
    return found
