"""Removes what interrupted transfers have left beside their destinations: files and directories
`.NAME.<hashes>.part`.  What another worker is writing stays.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import stat
from collections.abc import Callable, Iterator

from condor_pydagman.data_requests.request_text import is_several
from condor_pydagman.data_requests.requests import Transfer
from condor_pydagman.data_requests.urls import Url
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.transfer.direct_way import place_of
from condor_pydagman.transfer.endpoints import choose
from condor_pydagman.transfer.local_part import remove_left
from condor_pydagman.transfer.placement_directory import DestinationLocks
from condor_pydagman.transfer.rules.faults import Fault, FaultKind
from condor_pydagman.transfer.way import Surroundings

_HASHES = r"(?:[0-9a-f]{8}\.[0-9a-f]{8}|[0-9a-f]{12}(?:\.[0-9a-f]{16})?)"  # of files, directories
_PART = re.compile(rf"\.(.+)\.{_HASHES}\.part", re.DOTALL)
_CUT_BYTES = 180  # a longer name may be cut in the name of a part


class Place(NamedTuple):
    """Where parts may be.

    Attributes:
        directory: ends in `/`.
        name: of the file that they are of; '' for all.
        is_deep: whether parts in directories below are meant as well.
        credential, proxy: of the request.
    """

    directory: Url
    name: str = ""
    is_deep: bool = False
    credential: str = ""
    proxy: str = ""


def place_of_transfer(transfer: Transfer) -> Place:
    """Where a transfer has its parts."""
    destination = transfer.destination
    more = (transfer.credential, transfer.proxy)
    if is_several(transfer.source, destination):
        return Place(destination, "", transfer.source.is_directory, *more)
    if destination.is_directory:
        return Place(destination, transfer.source.name, False, *more)
    return Place(destination.sibling(""), destination.name, False, *more)


def remove_parts(place: Place, surroundings: Surroundings) -> None:
    """Remove the parts at a place, and say so of each.

    Raises:
        Fault: they can't be listed or removed.
    """
    say = surroundings.say
    if place.directory.is_local:
        for path in _local_parts(place):
            _tell(say, path, is_removed=_remove_local(path))
        return
    if why := choose.why_unknown(place.directory.scheme):
        raise Fault(FaultKind.NO_WAY, why)
    locks = DestinationLocks()
    with choose.endpoint_for(
        place.directory, surroundings, place.credential, place.proxy
    ) as endpoint:
        if endpoint.appears_whole:
            return  # it shows no parts
        if not endpoint.can_list:
            raise Fault(FaultKind.REFUSED, f"{place.directory} can't be listed")
        for entry in list(endpoint.files_below(place.directory, deep=place.is_deep)):
            url = place.directory.child(entry.path)
            of = _name_in(url.name, place)
            if of:
                lock = "\0".join(map(str, place_of(url.sibling(of))))
                with locks.held_if_free(lock, surroundings) as is_free:
                    if is_free:
                        endpoint.remove(url)
                _tell(say, str(url), is_removed=is_free)


def _name_in(candidate: str, place: Place) -> str:
    """The name that a part's file is to have; '' if it is none that is meant."""
    found = _PART.fullmatch(candidate)
    if found is None:
        return ""
    begin = os.fsencode(found[1])
    is_cut = len(begin) >= _CUT_BYTES and os.fsencode(place.name).startswith(begin)
    return found[1] if place.name in ("", found[1]) or is_cut else ""


def _local_parts(place: Place) -> Iterator[str]:
    for directory, below, files in os.walk(place.directory.path):
        parts = [name for name in (*below, *files) if _name_in(name, place)]
        yield from (os.path.join(directory, name) for name in parts)
        below[:] = [name for name in below if name not in parts] if place.is_deep else []


def _remove_local(path: str) -> bool:
    """Remove a part of the user's own, unless somebody writes to it; whether it is gone."""
    with contextlib.suppress(FileNotFoundError):
        if stat.S_ISDIR(os.lstat(path).st_mode):
            return remove_left(path)
        try:
            fd = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except PermissionError:
            return False
        try:
            found = os.fstat(fd)
            if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
                return False
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(path)
        except OSError:  # it is locked, or there are no locks and nobody knows
            return False
        finally:
            os.close(fd)
    return True


def _tell(say: Callable[[str], None], path: str, *, is_removed: bool) -> None:
    say(f"removed: {path}" if is_removed else f"left alone, as it may be in use: {path}")
