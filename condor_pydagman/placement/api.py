"""Data placement from Python: what DATA nodes and `condor_pydagman transfer` do."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from condor_pydagman.adapters import files
from condor_pydagman.data_requests.request_keys import read_checksum
from condor_pydagman.data_requests.request_macros import Macros
from condor_pydagman.data_requests.request_text import read_requests
from condor_pydagman.data_requests.requests import FAIL, OVERWRITE, SKIP, Placement, Transfer
from condor_pydagman.data_requests.urls import Url, masked_text, parse_url
from condor_pydagman.errors import UsageError
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.placement.attempt_lines import ends_of
from condor_pydagman.placement.make_worker import configured_settings, make_worker
from condor_pydagman.placement.way import Surroundings
from condor_pydagman.placement.worker import AttemptEnd
from condor_pydagman.records.placement_event import COMPLETED, RESCHEDULED

_NO_MACROS: Mapping[str, str] = {}


class PlacementResult(NamedTuple):
    """How a placement ended.

    Attributes:
        source, destination: of a transfer, secrets masked; of an allocation its id and host.
        done: whether it succeeded.
        skipped: whether the file was there already.
        size: bytes at the destination, None if unknown.
        moved: bytes that the last attempt moved.
        seconds: that the last attempt took.
        attempts: how many there were.
        way: that the last attempt took: "direct http-file".
        fault: name of the kind of fault, '' if there is none (docs/data-placement.md).
        reason: of the fault, in words.
    """

    source: str
    destination: str
    done: bool
    skipped: bool
    size: int | None
    moved: int
    seconds: float
    attempts: int
    way: str
    fault: str
    reason: str


def run_requests(
    file: str | os.PathLike[str],
    macros: Mapping[str, str] = _NO_MACROS,
    *,
    text: str | None = None,
    say: Callable[[str], None] | None = None,
    **settings: Any,
) -> list[PlacementResult]:
    """Perform all requests of a request file; returns when each is done or has failed for good.

    Args:
        file: its name; relative paths of the requests begin at its directory.
        macros: values for `$(NAME)`, as VARS sets them for a node.
        text: its text, if it is not to be read.
        say: told what happens, in lines of text.
        settings: fields of `condor_pydagman.data_requests.settings.Settings` that are to differ
            from the configuration: `max_streams=8`.

    Returns:
        one result for each file that was transferred, and for each allocation and release.

    Raises:
        DagFileError: a request is wrong.
        FileError: the file can't be read.
        ConfigError: a knob is wrong.
        UsageError: there is no such setting.
    """
    name = os.fspath(file)
    placements = placements_of(name, Macros(macros, os.environ), text)
    return _run(placements, os.path.abspath(os.path.dirname(name)), say, settings)


def placements_of(name: str, macros: Macros, text: str | None = None) -> Sequence[Placement]:
    """The requests of a file; `text` is what it holds, None to read it.

    Raises:
        DagFileError: a request is wrong.
        FileError: the file can't be read.
    """
    if text is None:
        text = files.text_of(name, "request file")
    return read_requests(text, name, macros, os.path.abspath(os.path.dirname(name))).placements


def transfer_file(
    source: str,
    destination: str,
    *,
    checksum: str = "",
    if_exists: str = OVERWRITE,
    say: Callable[[str], None] | None = None,
    **settings: Any,
) -> list[PlacementResult]:
    """Transfer a file, or all files of a directory (`source` and `destination` end in `/`).

    Args:
        source, destination: URLs or paths.
        checksum: what the file must have: `md5:...`, `adler32:...`, `sha256:...`.
        if_exists: "overwrite", "skip" or "fail".
        say, settings: as for `run_requests`.

    Raises:
        UsageError: a URL can't be read, or another argument is wrong.
        ConfigError: a knob is wrong.
    """
    if if_exists not in (OVERWRITE, SKIP, FAIL):
        raise UsageError(f"if_exists is {if_exists!r}, not overwrite, skip or fail")
    try:
        checksum = read_checksum(checksum) if checksum else ""
    except ValueError as error:
        raise UsageError(f"checksum: {error}") from None
    transfer = Transfer(_url(source), _url(destination), checksum=checksum, if_exists=if_exists)
    return _run([transfer], os.getcwd(), say, settings)


def _url(text: str) -> Url:
    try:
        return parse_url(text, os.getcwd())
    except ValueError as error:
        raise UsageError(masked_text(f"{text}: {error}")) from None


def _run(
    placements: Sequence[Placement],
    directory: str,
    say: Callable[[str], None] | None,
    changes: Mapping[str, Any],
) -> list[PlacementResult]:
    settings = configured_settings()
    unknown = changes.keys() - set(settings._fields)
    if unknown:
        raise UsageError(f"there is no setting {', '.join(sorted(unknown))}")
    tell = say if say is not None else lambda text: None
    surroundings = Surroundings(settings._replace(**changes), os.environ, directory, tell)
    results = _Results()
    worker = make_worker(placements, surroundings, results, threading.Event())
    worker.start()
    while not worker.join(60.0):
        pass
    worker.result()
    return results.ended


class _Results:
    """The listener of the worker: keeps how each placement ended."""

    def __init__(self) -> None:
        self.ended: list[PlacementResult] = []

    def attempt_ended(self, end: AttemptEnd) -> None:
        if end.state == RESCHEDULED:
            return
        outcome, fault = end.outcome, end.fault
        source, destination = ends_of(end.placement)
        self.ended.append(
            PlacementResult(
                source,
                destination,
                done=end.state == COMPLETED,
                skipped=outcome is not None and outcome.skipped,
                size=outcome.size if outcome is not None else None,
                moved=outcome.moved if outcome is not None else 0,
                seconds=end.seconds,
                attempts=end.attempt,
                way=end.way,
                fault=fault.kind.name.lower() if fault is not None else "",
                reason=masked_text(fault.reason) if fault is not None else "",
            )
        )
