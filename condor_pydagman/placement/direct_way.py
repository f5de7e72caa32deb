"""The way "direct": data streams through this process from one service to another.

It is written under a temporary name beside the destination, checked, and renamed; an attempt that
was broken off is continued.  Where both ends are one service that can, the service copies.
"""

from __future__ import annotations

import contextlib
import fnmatch
import os
import stat
import threading
from collections.abc import Iterator

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.request_text import is_several
from condor_pydagman.data_requests.requests import FAIL, OVERWRITE, SKIP, Transfer
from condor_pydagman.data_requests.settings import DIRECT
from condor_pydagman.data_requests.urls import Url
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.placement.checksums import same_digits
from condor_pydagman.placement.endpoints import choose
from condor_pydagman.placement.endpoints.endpoint import Endpoint, Entry
from condor_pydagman.placement.endpoints.local_files import mode_of
from condor_pydagman.placement.placement_directory import DestinationLocks, place_of
from condor_pydagman.placement.stream_copy import StreamCopy, known_checksum, remove_second_name
from condor_pydagman.placement.way import Outcome, Progress, Surroundings, made_file
from condor_pydagman.printable import printable

MAX_ENDPOINTS = 8  # kept by a thread, with their connections


class _Key(NamedTuple):
    """What makes two URLs those of one service, for transfers alike."""

    scheme: str
    server: str
    user: str
    password: str
    credential: str
    proxy: str
    stall_timeout_s: float
    redirect_hosts: tuple[str, ...]
    writes: bool  # what is read and what is written need connections of their own


class _Attempt(NamedTuple):
    """What an attempt has."""

    label: str
    reads: Endpoint
    writes: Endpoint
    surroundings: Surroundings
    progress: Progress


class DirectWay:
    """Transfers between two endpoints; see `way.Way`."""

    name = DIRECT

    def __init__(self) -> None:
        self._local = threading.local()
        self._locks = DestinationLocks()

    def obstacle(self, transfer: Transfer, surroundings: Surroundings) -> str:
        """Why an end is not known, in a few words; '' if both are."""
        schemes = dict.fromkeys((transfer.source.scheme, transfer.destination.scheme))
        return "; ".join(filter(None, map(choose.why_unknown, schemes)))

    def expand(self, transfer: Transfer, surroundings: Surroundings) -> Iterator[Transfer]:
        """The files of a directory or pattern; of a file, that file alone.

        Raises:
            Fault: there are none, or they can't be listed.
        """
        source = transfer.source
        if not is_several(source, transfer.destination):
            yield transfer
            return
        # Not one of a thread's own: the files are taken by several threads, in turn.
        around = _with_wishes(transfer, surroundings)
        with choose.endpoint_for(source, around, transfer.credential, transfer.proxy) as endpoint:
            if not source.is_directory and endpoint.look(source) is not None:
                yield transfer  # a name with characters of a pattern
                return
            _refuse_inside(source, transfer.destination)
            yield from _listed(transfer, endpoint, surroundings)

    def thread_ends(self) -> None:
        """See `way.Way`."""
        self._local.last = None
        for endpoint in self._kept().values():
            endpoint.close()
        self._kept().clear()

    def perform(
        self, transfer: Transfer, surroundings: Surroundings, progress: Progress
    ) -> Outcome:
        """One attempt.

        Raises:
            Fault: it failed.
        """
        source, destination = transfer.source, made_file(transfer)
        label = f"direct {source.scheme}-{destination.scheme}"
        surroundings = _with_wishes(transfer, surroundings)
        reads, writes = self._endpoints(source, destination, transfer, surroundings)
        if not (source.is_local and destination.is_local) or os.path.lexists(destination.path):
            _refuse_same(source, destination)
        attempt = _Attempt(label, reads, writes, surroundings, progress)
        if destination.is_local:  # local files have locks of their own
            return self._perform(transfer, destination, attempt)
        with self._locks.held(destination, surroundings, progress):
            return self._perform(transfer, destination, attempt)

    def _perform(self, transfer: Transfer, destination: Url, by: _Attempt) -> Outcome:
        there = self._there(transfer, destination, by)
        if there is not None:
            return Outcome(by.label, there.size, 0, skipped=True)
        if destination is not transfer.destination:
            transfer = transfer._replace(destination=destination)
        copy = StreamCopy(transfer, *by[1:])
        size = copy.run()
        label = by.label + " (copied by the service)" * copy.by_service
        return Outcome(label, size, by.progress.moved)

    def _there(self, transfer: Transfer, destination: Url, by: _Attempt) -> Entry | None:
        """What is at the destination, if it is to be skipped.

        Raises:
            Fault: it is a directory, or it is to fail if anything is there.
        """
        if transfer.if_exists == OVERWRITE and not destination.is_local:
            return None
        if destination.is_local:
            mode = mode_of(destination.path)
            if not mode or (stat.S_ISREG(mode) and transfer.if_exists == OVERWRITE):
                return None
        found = by.writes.look(destination)
        if found is not None and found.is_directory:
            raise Fault(
                FaultKind.DESTINATION,
                f"{destination} is a directory; end it in / to put the file into it",
            )
        if transfer.if_exists == OVERWRITE:
            by.surroundings.say(f"{destination} is a link, which the file replaces")
            return None
        if found is None:
            return None
        if transfer.if_exists == FAIL:
            if destination.is_local and by.progress.has_named(destination.path):
                remove_second_name(transfer.source, destination.path)
                return found
            raise Fault(FaultKind.DESTINATION, f"{destination} is there already")
        if transfer.if_exists == SKIP and _is_right(transfer, found, destination, by):
            return found
        return None

    def _endpoints(
        self, source: Url, destination: Url, transfer: Transfer, surroundings: Surroundings
    ) -> tuple[Endpoint, Endpoint]:
        """Those of both ends; mostly they are those of the file before."""
        key = (
            *(source[0], source[2:6], destination[0], destination[2:6]),
            *(transfer.credential, transfer.proxy, surroundings.settings.stall_timeout_s),
            transfer.redirect_hosts,
        )
        last = getattr(self._local, "last", None)
        if last is not None and last[0] == key:
            pair: tuple[Endpoint, Endpoint] = last[1]
            return pair
        self._local.last = None
        pair = (
            self._endpoint(source, transfer, surroundings, writes=False),
            self._endpoint(destination, transfer, surroundings, writes=True),
        )
        self._local.last = key, pair
        return pair

    def _endpoint(
        self, url: Url, transfer: Transfer, surroundings: Surroundings, *, writes: bool
    ) -> Endpoint:
        kept = self._kept()
        key = _Key(
            *(url.scheme, url.server, url.user, url.password),
            *(transfer.credential, transfer.proxy),
            surroundings.settings.stall_timeout_s,
            transfer.redirect_hosts,
            writes,
        )
        endpoint = kept.pop(key, None)
        if endpoint is not None:
            kept[key] = endpoint  # the last that is closed
        else:
            while len(kept) >= MAX_ENDPOINTS:
                kept.pop(next(iter(kept))).close()
            endpoint = kept[key] = choose.endpoint_for(
                url, surroundings, transfer.credential, transfer.proxy
            )
        return endpoint

    def _kept(self) -> dict[_Key, Endpoint]:
        kept: dict[_Key, Endpoint] | None = getattr(self._local, "endpoints", None)
        if kept is None:
            kept = self._local.endpoints = {}
        return kept


def _listed(
    transfer: Transfer, endpoint: Endpoint, surroundings: Surroundings
) -> Iterator[Transfer]:
    """The files of a directory or pattern; what else is there is told."""
    source = transfer.source
    if not endpoint.can_list:
        raise Fault(FaultKind.REFUSED, f"{source} can't be listed")
    pattern = "" if source.is_directory else source.name
    directory = source if source.is_directory else source.sibling("")
    found = False
    wishes = transfer._replace(checksum="")[2:]
    beginning, end = directory.path.rstrip("/") + "/", transfer.destination.path.rstrip("/") + "/"

    def leaves_out(path: str, why: str) -> None:
        if not pattern or _matches(path, pattern):
            surroundings.say(f"leaves out {printable(str(source.at(beginning + path)))}: {why}")

    endpoint.leaves_out = leaves_out
    for entry in endpoint.files_below(directory, deep=not pattern):
        if pattern and not _matches(entry.path, pattern):
            continue
        refuse_outside(entry, directory)
        found = True
        yield Transfer(
            source.at(beginning + entry.path), transfer.destination.at(end + entry.path), *wishes
        )
    if not found and (pattern or endpoint.look(directory) is None):
        raise Fault(FaultKind.MISSING, f"no file matches {source}")


def _matches(path: str, pattern: str) -> bool:
    """Whether a file of the directory itself matches; hidden ones need a pattern with a dot."""
    hidden = path.startswith(".") and not pattern.startswith(".")
    return "/" not in path and not hidden and fnmatch.fnmatchcase(path, pattern)


def refuse_outside(entry: Entry, directory: Url) -> None:
    """A server must not make us write elsewhere."""
    parts = entry.path.split("/")
    if entry.path.startswith("/") or ".." in parts or "" in parts or "\0" in entry.path:
        raise Fault(FaultKind.REFUSED, f"{directory} lists a file {entry.path!r}, outside of it")


def _with_wishes(transfer: Transfer, surroundings: Surroundings) -> Surroundings:
    """The surroundings, with what the request wants otherwise."""
    if transfer.stall_timeout_s is None and not transfer.redirect_hosts:
        return surroundings
    settings = surroundings.settings._replace(redirect_hosts=transfer.redirect_hosts)
    if transfer.stall_timeout_s is not None:
        settings = settings._replace(stall_timeout_s=transfer.stall_timeout_s)
    return surroundings._replace(settings=settings)


def _refuse_same(source: Url, destination: Url) -> None:
    if source.is_local and destination.is_local:
        same = source.path == destination.path
        with contextlib.suppress(OSError):
            same = same or os.path.samefile(source.path, destination.path)
    else:
        same = source.host == destination.host and place_of(source) == place_of(destination)
    if same:
        raise Fault(FaultKind.REQUEST, f"the destination {destination} is the source")


def _refuse_inside(source: Url, destination: Url) -> None:
    """What is listed while it grows has no end."""
    if not source.is_directory:
        return  # a pattern, of one directory alone
    outer, inner = place_of(source), place_of(destination)
    if outer[:-1] == inner[:-1] and inner[-1].startswith(outer[-1].rstrip("/") + "/"):
        raise Fault(FaultKind.REQUEST, f"the destination {destination} is in the source {source}")


def _is_right(transfer: Transfer, found: Entry, destination: Url, by: _Attempt) -> bool:
    """Whether what is there has the right checksum, or size if the request has no checksum."""
    if transfer.checksum:
        algorithm, _, digits = transfer.checksum.partition(":")
        known = known_checksum(by.writes, destination, found, algorithm)
        if not known:
            known = StreamCopy.checksum_of(by.writes, destination, algorithm)
        return same_digits(known, digits)
    source = by.reads.look(transfer.source)
    if source is None:
        raise Fault(FaultKind.MISSING, f"{transfer.source} is not there")
    return source.size is not None and source.size == found.size
