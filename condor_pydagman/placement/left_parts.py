"""Removes what interrupted transfers have left beside their destinations: files and directories
`.NAME.<hashes>.part`.  What another worker is writing stays.
"""

from __future__ import annotations

import fcntl
import os
import re
import stat
import time
from collections.abc import Iterator
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.request_text import is_several
from condor_pydagman.data_requests.requests import Transfer
from condor_pydagman.data_requests.urls import Url
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.placement.direct_way import refuse_outside
from condor_pydagman.placement.endpoints import choose
from condor_pydagman.placement.endpoints.endpoint import Endpoint, Entry
from condor_pydagman.placement.local_part import remove_left
from condor_pydagman.placement.placement_directory import DestinationLocks
from condor_pydagman.placement.way import Surroundings
from condor_pydagman.printable import printable

REMOVED = "removed"
IN_USE = "left alone, as it may be in use"
NO_FILE = "left alone, as it is no file"
MIN_AGE_S = 300  # of a part at a server that tells when it has changed
LOOK_AGAIN_S = 5.0  # between looks at parts whose server does not tell that
_HASHES = r"(?:[0-9a-f]{8}\.[0-9a-f]{8}|[0-9a-f]{12}(?:\.[0-9a-f]{16})?)"  # of files, directories
_PART = re.compile(rf"\.(.+)\.{_HASHES}\.part", re.DOTALL)
_CUT_BYTES = 180  # a longer name may be cut in the name of a part


class Place(NamedTuple):
    """Where parts may be."""

    directory: Url  # ends in `/`
    name: str = ""  # of the file that they are of; '' for all
    is_deep: bool = False  # whether parts in directories below are meant as well
    # of the request
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
    if place.directory.is_local:
        for path in _local_parts(place):
            surroundings.say(f"{_remove_local(path)}: {printable(path)}")
        return
    if why := choose.why_unknown(place.directory.scheme):
        raise Fault(FaultKind.NO_WAY, why)
    with choose.endpoint_for(
        place.directory, surroundings, place.credential, place.proxy
    ) as endpoint:
        if endpoint.appears_whole:
            return  # it shows no parts
        if not endpoint.can_list:
            raise Fault(FaultKind.REFUSED, f"{place.directory} can't be listed")
        _remove_remote(place, endpoint, surroundings)


def _remove_remote(place: Place, endpoint: Endpoint, surroundings: Surroundings) -> None:
    """Locks tell of this access point only; what others write is seen as it changes."""
    urls = _remote_parts(place, endpoint)
    before = {url: endpoint.look(url) for url in urls}
    if any(found is not None and _age(found) is None for found in before.values()):
        time.sleep(LOOK_AGAIN_S)
    locks = DestinationLocks()
    for url, of in urls.items():
        with locks.held_if_free(url.sibling(of), surroundings) as is_free:
            now = endpoint.look(url)
            if now is None:
                continue
            is_left = is_free and now == before[url] and _is_old(now)
            if is_left:
                endpoint.remove(url)
        surroundings.say(f"{REMOVED if is_left else IN_USE}: {printable(str(url))}")


def _remote_parts(place: Place, endpoint: Endpoint) -> dict[Url, str]:
    """The parts at a server, and the names that their files are to have."""
    parts = {}
    for entry in endpoint.files_below(place.directory, deep=place.is_deep):
        refuse_outside(entry, place.directory)
        if "/" in entry.path and not place.is_deep:
            continue
        url = place.directory.child(entry.path)
        if of := _name_in(url.name, place):
            parts[url] = of
    return parts


def _is_old(entry: Entry) -> bool:
    """Whether nobody seems to write a file that has not changed between two looks."""
    age = _age(entry)
    if age is None:
        return entry.size is not None or entry.version != ""
    return age >= MIN_AGE_S


def _age(entry: Entry) -> float | None:
    """Seconds since the last change of a file; None if the server does not tell its time."""
    version = entry.version
    try:
        if found := re.fullmatch(r"([0-9]{1,12})\.[0-9]+", version):  # sftp
            return time.time() - int(found[1])
        if re.match(r"[0-9]{14}(?![0-9])", version):  # ftp
            changed = datetime.strptime(version[:14], "%Y%m%d%H%M%S")
        elif "," in version:  # http
            changed = parsedate_to_datetime(version)
        else:
            return None
        return time.time() - changed.replace(tzinfo=timezone.utc).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


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


def _remove_local(path: str) -> str:
    """Remove a part of the user's own, unless somebody writes to it; what has become of it."""
    try:
        mode = os.lstat(path).st_mode
        if stat.S_ISDIR(mode):
            return REMOVED if remove_left(path) else IN_USE
        if not stat.S_ISREG(mode):
            return NO_FILE
        fd = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return REMOVED
    except OSError:  # a program that runs, a file of somebody else
        return IN_USE
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            return IN_USE
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(path)
    except FileNotFoundError:
        return REMOVED
    except OSError:  # it is locked, or there are no locks and nobody knows
        return IN_USE
    finally:
        os.close(fd)
    return REMOVED
