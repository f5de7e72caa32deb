"""What a request file asks for: transfers, allocations and releases."""

from __future__ import annotations

from typing import Union

from condor_pydagman.data_requests.urls import Url
from condor_pydagman.named_tuple import NamedTuple

OVERWRITE, SKIP, FAIL = "overwrite", "skip", "fail"


class Transfer(NamedTuple):
    """`dap_type = "transfer"`: a file, or all files of a directory or a pattern, from URL to URL."""

    # a directory if it ends in `/`; the last part of the source's path may be a pattern (`*`, `?`,
    # `[...]`) if the source is local or can be listed
    source: Url
    destination: Url
    line: int = 0  # number of the line of the request file where the request begins
    # pairs of source and destination protocol, each with its port if one is given (`ftp:2121`),
    # that are tried in turn if the URLs' own fail for good, and at once while a service of theirs
    # is left alone
    alt_protocols: tuple[tuple[str, str], ...] = ()
    arguments: tuple[str, ...] = ()  # for modules, after the two URLs
    checksum: str = ""  # algorithm and hexadecimal digits, as `md5:...`; '' for none
    # "overwrite"; "skip" what is there with the right size, or checksum if there is one; or "fail"
    if_exists: str = OVERWRITE
    allocation_id: str = ""  # of the allocation that the bytes are taken from; '' for none
    priority: int = 0  # higher goes first
    # which ways are looked at, in order (`module`, `direct`, `gfal`, `plugin`, `cache`); empty for
    # the order of the configuration
    ways: tuple[str, ...] = ()
    # None for those of the configuration
    max_retries: int | None = None
    max_delay_s: float | None = None
    stall_timeout_s: float | None = None
    # `cred_name`: the name of a section or file of credentials; '' for the default
    credential: str = ""
    proxy: str = ""  # path of an X.509 proxy; '' for none
    # to which an http server may redirect uploads, beside its own
    redirect_hosts: tuple[str, ...] = ()
    # names of the module's `input`, `output` and `err`; '' each for none
    files: tuple[str, str, str] = ("", "", "")


class Allocate(NamedTuple):
    """`dap_type = "allocate"`, or "reserve" as Stork's source has it."""

    host: str  # `dest_host`: a host, a URL or a directory, as the capacities name it
    allocation_id: str  # a second allocation with the same host and id is the first one
    size: int = 0  # bytes; 0 if the request names none (a module may not need it)
    duration_s: float = 0  # it ends by itself after so many seconds; 0 for never
    line: int = 0
    wait: bool = True  # whether to wait for room, or to fail at once if there is none
    arguments: tuple[str, ...] = ()
    priority: int = 0
    max_retries: int | None = None
    max_delay_s: float | None = None


class Release(NamedTuple):
    """`dap_type = "release"`: an allocation ends."""

    host: str
    allocation_id: str
    line: int = 0
    arguments: tuple[str, ...] = ()
    priority: int = 0
    max_retries: int | None = None
    max_delay_s: float | None = None


Placement = Union[Transfer, Allocate, Release]
