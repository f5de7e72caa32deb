"""The way "gfal": the library gfal2 of grid sites, if its Python module is installed.

From one server to another it has the servers copy between themselves; where the way "direct" knows
an end's protocol too, that is all it does, since "direct" streams better.  Other protocols (srm,
gsiftp) may stream through this machine.  Every copy is a process of its own (`gfal_copy`).
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.request_text import is_several
from condor_pydagman.data_requests.requests import Transfer
from condor_pydagman.data_requests.settings import DIRECT, GFAL
from condor_pydagman.data_requests.urls import Url
from condor_pydagman.placement import child_process, gfal_copy, site_modules, waits
from condor_pydagman.placement.endpoints.disk_faults import writing
from condor_pydagman.placement.local_part import LocalPart, ProgramRun, grown, local_size
from condor_pydagman.placement.placement_directory import DestinationLocks
from condor_pydagman.placement.private_places import scratch_directory
from condor_pydagman.placement.rules.gfal_results import copies_between, fault_of, schemes
from condor_pydagman.placement.way import OneByOne, Outcome, Progress, Surroundings

INSTALL = "dnf install python3-gfal2, apt install python3-gfal2"
ASK_TIMEOUT_S = 30.0  # for gfal2 to load its plugins
MAX_TIMEOUT_S = 65535  # that XRootD's client can take
MIN_STALL_S = 30.0  # servers tell of a copy every few seconds
_ENCRYPTED = ("https", "davs")  # to which a token is sent
# What is the same with any way is told at once; all else another way may do better.
_OF_THE_FILES = (
    *(FaultKind.MISSING, FaultKind.DESTINATION, FaultKind.NO_SPACE, FaultKind.MISMATCH),
    *(FaultKind.STOPPED, FaultKind.ALLOCATION, FaultKind.REQUEST),
)


class GfalWay(OneByOne):
    """Transfers by gfal2; see `way.Way`.

    Args:
        streams_directly: why the way "direct" can't take a transfer, '' if it can.
    """

    name = GFAL

    def __init__(self, streams_directly: Callable[[Transfer, Surroundings], str]) -> None:
        self._why_not_direct = streams_directly
        self._lock = threading.Lock()
        self._known: frozenset[str] | Fault | None = None
        self._locks = DestinationLocks()
        self._apart: set[tuple[str, str]] = set()  # servers that don't copy from one to the other
        self._no_rename: set[str] = set()

    def obstacle(self, transfer: Transfer, surroundings: Surroundings) -> str:
        """Why it can't take this transfer, in a few words; '' if it can."""
        if not module_directory():
            return f"python3-gfal2 is not installed ({INSTALL})"
        source, destination = transfer.source, transfer.destination
        if source.is_local and destination.is_local:
            return "not needed, both ends are files of this machine"
        if is_several(source, destination):
            return "it takes single files"
        if source.user or destination.user:
            return "it takes no user or password in a URL"
        if (source.server, destination.server) in self._apart:
            return f"{source.server} and {destination.server} don't copy to each other"
        known = self._schemes(surroundings)
        if isinstance(known, Fault):
            return known.reason
        missing = [url.scheme for url in (source, destination) if url.scheme not in known]
        if missing:
            return f"its plugins don't know {missing[0]}"
        if not copies_between(source.scheme, destination.scheme) and not self._streams(
            transfer, surroundings
        ):
            return f"servers of {source.scheme} and {destination.scheme} don't copy to each other"
        return ""

    def perform(
        self, transfer: Transfer, surroundings: Surroundings, progress: Progress
    ) -> Outcome:
        """One attempt.

        Raises:
            Fault: it failed.
        """
        if transfer.destination.is_directory and not transfer.destination.is_local:
            end = transfer.destination.child(transfer.source.name)
            transfer = transfer._replace(destination=end)
        run = _Run(transfer, surroundings, progress, streams=self._streams(transfer, surroundings))
        if transfer.destination.is_local:
            return run.to_file()
        destination = transfer.destination
        try:
            with self._locks.held(destination, surroundings, progress) as lock:
                renames = destination.server not in self._no_rename
                outcome, renames = run.to_server(lock, renames=renames)
        except Fault as fault:
            raise self._judged(fault, transfer, surroundings, progress) from None
        if not renames:
            self._no_rename.add(destination.server)
        return outcome

    def _streams(self, transfer: Transfer, surroundings: Surroundings) -> bool:
        """Whether data may pass through this machine: if it must, or no other way would do it."""
        one_is_here = transfer.source.is_local or transfer.destination.is_local
        if one_is_here or DIRECT not in (transfer.ways or surroundings.settings.ways):
            return True
        return bool(self._why_not_direct(transfer, surroundings))

    def _judged(
        self, fault: Fault, transfer: Transfer, surroundings: Surroundings, progress: Progress
    ) -> Fault:
        """The fault, or one that lets the way "direct" try at once: servers that have not begun to
        copy to each other may never do."""
        if progress.moved or fault.kind in _OF_THE_FILES or self._streams(transfer, surroundings):
            return fault
        if fault.kind is FaultKind.REFUSED and not transfer.checksum:
            self._apart.add((transfer.source.server, transfer.destination.server))
        return Fault(FaultKind.REFUSED, f"no copy from server to server: {fault.reason}")

    def _schemes(self, surroundings: Surroundings) -> frozenset[str] | Fault:
        """What its plugins know; asked once, in a process of its own."""
        with self._lock:
            if self._known is None:
                self._known = _asked(surroundings)
                if isinstance(self._known, Fault):  # something may have killed the process
                    self._known = _asked(surroundings)
        return self._known


def _asked(surroundings: Surroundings) -> frozenset[str] | Fault:
    try:
        told = _call({}, surroundings, Progress(threading.Event()), ASK_TIMEOUT_S)
    except Fault as fault:
        return fault
    return schemes(told["plugins"])


@functools.lru_cache(maxsize=1)
def module_directory() -> str:
    """Where the module gfal2 is; '' if it is not installed.  Nothing of it is loaded."""
    import importlib.util

    found = importlib.util.find_spec("gfal2")
    return os.path.dirname(found.origin) if found is not None and found.origin else ""


class _Run(ProgramRun):
    """One attempt."""

    def __init__(
        self, transfer: Transfer, surroundings: Surroundings, progress: Progress, *, streams: bool
    ) -> None:
        label = f"gfal {transfer.source.scheme}-{transfer.destination.scheme}"
        super().__init__(label, transfer, surroundings, progress)
        self._streams = streams

    def _write(self, part: LocalPart) -> None:
        self._call(self._request(self._transfer.destination.at(part.path)))

    def to_server(self, lock: int, *, renames: bool) -> tuple[Outcome, bool]:
        """Copy to a server, first under a temporary name if it renames; whether it does.

        `lock`: descriptor of the lock of the destination.
        """
        self._keeps = (lock,)
        self._progress.begin(0, local_size(self._transfer.source))
        final = self._transfer.destination
        beside = _temporary(self._transfer).with_secrets()
        told = self._call(self._request(final, beside, renames=renames))
        size = int(told["size"])
        if told["skipped"]:
            return Outcome(self._label, size, 0, skipped=True), renames
        grown(self._progress, size)
        return Outcome(self._label, size, size), bool(told["renames"])

    def _request(
        self, destination: Url, part: str = "", *, renames: bool = False
    ) -> dict[str, Any]:
        """What `gfal_copy` is asked; without `part`, what it makes is checked by others."""
        transfer, settings = self._transfer, self._surroundings.settings
        algorithm, _, digits = transfer.checksum.partition(":")
        return {
            "source": transfer.source.with_secrets(),
            "destination": destination.with_secrets(),
            "part": part,
            "renames": renames,
            "if_exists": transfer.if_exists if part else "overwrite",
            "checksum": [algorithm, digits] if digits and part else [],
            "patience": waits.LATE_S if part else 0,
            "streams": self._streams,
            "tokens": self._tokens(),
            "timeout": min(int(settings.module_timeout_s) or MAX_TIMEOUT_S, MAX_TIMEOUT_S),
            "answer_timeout": min(max(int(settings.stall_timeout_s), 1), MAX_TIMEOUT_S),
        }

    def _tokens(self) -> list[tuple[str, str]]:
        """The user's token, for each server that is reached encrypted."""
        ends = [url for url in self._transfer[:2] if url.scheme in _ENCRYPTED]
        if not ends:
            return []
        from condor_pydagman.placement.endpoints.http_credentials import bearer_token

        token = bearer_token(self._surroundings.environment)
        return [(f"{url.scheme}://{url.server}/", token) for url in ends if token]

    def _call(self, request: dict[str, Any]) -> dict[str, Any]:
        settings = self._surroundings.settings
        told = _call(
            request,
            self._surroundings,
            self._progress,
            settings.module_timeout_s,
            proxy=site_modules.proxy_path(self._transfer.proxy, self._surroundings),
            keeps=self._keeps,
        )
        if "code" not in told:
            return told
        source, destination = self._transfer[:2]
        text = site_modules.without_secrets(str(told["text"]), source, destination)
        for _, token in request["tokens"]:
            text = text.replace(token, "***")
        raise fault_of(told["end"], int(told["code"]), text, source, destination)


def _temporary(transfer: Transfer) -> Url:
    """The same for each attempt at this transfer, so that the next one removes what is left."""
    url = transfer.destination
    source = transfer.source.with_secrets()
    key = hashlib.sha256(os.fsencode(f"{source}\0{url.with_secrets()}")).hexdigest()[:12]
    return url.sibling(f".{url.name[:100]}.{key}.part")


class _Watch:
    """Tells the worker of bytes, and notices that no more come, or that it takes too long."""

    def __init__(
        self, progress: Progress, path: str, stall_timeout_s: float, timeout_s: float
    ) -> None:
        self._progress = progress
        self._path = path
        self._stall_timeout_s = stall_timeout_s
        self._timeout_s = timeout_s
        self._seen, self._begun = 0, time.monotonic()
        self._at = self._begun

    def __call__(self) -> None:
        total = self.look()
        if self._timeout_s and time.monotonic() > self._begun + self._timeout_s:
            raise Fault(FaultKind.MODULE, f"gfal2 took longer than {self._timeout_s:g} s")
        # Before the first byte a file may be on a tape; after the last one a sum may be made.
        if 0 < self._seen < total and time.monotonic() > self._at + self._stall_timeout_s:
            raise Fault(FaultKind.SERVER, f"no data for {self._stall_timeout_s:g} s")

    def look(self) -> int:
        """Tell of what has come; bytes of the whole."""
        try:
            with open(self._path, "rb") as file:
                size, total = map(int, file.read(50).split())
        except (OSError, ValueError):  # nothing yet
            return 0
        if size != self._seen:
            self._seen, self._at = size, time.monotonic()
            grown(self._progress, size)
        return total


def _call(
    request: dict[str, Any],
    surroundings: Surroundings,
    progress: Progress,
    timeout_s: float,
    *,
    proxy: str = "",
    keeps: tuple[int, ...] = (),
) -> dict[str, Any]:
    """Run `gfal_copy`; what it answers.

    Raises:
        Fault: it gave no answer.
    """
    with ExitStack() as stack:
        with writing(tempfile.gettempdir()):
            directory = stack.enter_context(scratch_directory("gfal"))
            with open(os.path.join(directory, gfal_copy.REQUEST), "x", encoding="ascii") as file:
                json.dump(request, file)
        told = os.path.join(directory, gfal_copy.PROGRESS)
        stall_s = max(surroundings.settings.stall_timeout_s, MIN_STALL_S)
        watch = _Watch(progress, told, stall_s, timeout_s)
        ended = child_process.run(
            [sys.executable, "-I", "-S", gfal_copy.__file__, module_directory(), directory],
            _environment(request, surroundings, proxy),
            surroundings.directory,
            progress,
            tick=watch,
            keeps=keeps,
        )
        watch.look()
        try:
            with open(os.path.join(directory, gfal_copy.RESULT), encoding="ascii") as file:
                answer: dict[str, Any] = json.load(file)
        except (OSError, ValueError):
            line = site_modules.said(ended)
            how = "did not answer" if ended.code == -signal.SIGALRM else ended.how
            raise Fault(FaultKind.MODULE, f"gfal2 {how}" + f": {line}" * bool(line)) from None
    return answer


def _environment(request: dict[str, Any], surroundings: Surroundings, proxy: str) -> dict[str, str]:
    """Variables for gfal2; XRootD's client would try a dead server for ten minutes.

    gfal2 would also send a token that is a variable to servers that are not reached encrypted.
    """
    settings = surroundings.settings
    usual = {
        "XRD_CONNECTIONWINDOW": str(max(int(settings.connect_timeout_s), 1)),
        "XRD_CONNECTIONRETRY": "1",
        "XRD_STREAMERRORWINDOW": "0",
        "XRD_REQUESTTIMEOUT": str(max(int(settings.stall_timeout_s), 1)),
    }
    found = {**usual, **site_modules.environment(surroundings, {"X509_USER_PROXY": proxy})}
    ends = (str(request.get(end, "")) for end in ("source", "destination"))
    if any(end.startswith(("http", "dav")) for end in ends):
        found.pop("BEARER_TOKEN", None)
    return found
