"""`condor_pydagman transfer`: performs the request files of DATA nodes by hand."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

from condor_pydagman.cli.say import say
from condor_pydagman.cli.subcommands import Subparsers, add_subcommand, integer
from condor_pydagman.data_requests.faults import Fault, FaultKind, exit_code
from condor_pydagman.data_requests.request_keys import read_checksum
from condor_pydagman.data_requests.request_macros import Macros
from condor_pydagman.data_requests.request_text import is_several
from condor_pydagman.data_requests.requests import Placement, Transfer
from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.data_requests.urls import Url, masked_text, parse_url
from condor_pydagman.errors import DagFileError
from condor_pydagman.placement.api import placements_of
from condor_pydagman.placement.attempt_lines import ProgressSum, attempt_line, name_of, rate_text
from condor_pydagman.placement.left_parts import Place, place_of_transfer, remove_parts
from condor_pydagman.placement.make_worker import configured_settings, make_worker
from condor_pydagman.placement.way import Surroundings
from condor_pydagman.placement.worker import AttemptEnd, Worker
from condor_pydagman.placement.worker_processes import WorkerProcesses
from condor_pydagman.printable import printable, size_text
from condor_pydagman.records.placement_event import COMPLETED

REFRESH_S = 0.2
MAX_LISTED = 50  # placements that are told when they are done; --json tells all
_DESCRIPTION = """\
Perform the transfers, allocations and releases of request files, as a DATA node does; or transfer
one file or directory, SOURCE to DESTINATION. Temporary failures are retried; an interrupted
transfer continues where it stopped, if the server supports that. Exit code: 0 if all is done; 10 to
30 if not, by cause (docs/data-placement.md); 1 if a file can't be read; 2 if the command line is
wrong."""


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand."""
    parser = add_subcommand(
        subparsers,
        "transfer",
        "perform the request file of a DATA node, or transfer one file",
        _DESCRIPTION,
        run,
    )
    parser.add_argument(
        "what", nargs="+", metavar="FILE", help="request files; or SOURCE DESTINATION, with --copy"
    )
    parser.add_argument(
        "--copy", action="store_true", help="transfer SOURCE to DESTINATION; both are URLs or paths"
    )
    parser.add_argument(
        "--clean",
        action="store_true",
        help="transfer nothing, but remove what interrupted transfers of the request files have"
        " left (.NAME.*.part); FILE may also be a directory with such files, or its URL",
    )
    parser.add_argument(
        "--define",
        "-D",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="set a macro of the request files, as VARS does for a node",
    )
    parser.add_argument(
        "--checksum",
        type=_checksum,
        metavar="ALGORITHM:DIGITS",
        help="checksum of the file, with --copy",
    )
    parser.add_argument(
        "--if-exists",
        choices=("overwrite", "skip", "fail"),
        help="what to do if DESTINATION exists, with --copy (default: overwrite)",
    )
    parser.add_argument(
        "--streams", type=integer(1, 64), metavar="N", help="maximum number of parallel placements"
    )
    parser.add_argument(
        "--retries", type=integer(0, 1000), metavar="N", help="maximum number of retries"
    )
    parser.add_argument("--quiet", "-q", action="store_true", help="print only failures")
    parser.add_argument("--json", action="store_true", help="print a line of JSON for each attempt")


def run(arguments: argparse.Namespace) -> int:
    """Do it; returns the exit code.

    Raises:
        PydagmanError: the configuration is wrong.
    """
    _refuse_without_copy(arguments)
    settings = _settings(arguments)
    try:
        placements = _placements(arguments)
    except DagFileError as error:
        say(*error.detail().split("\n"), error=True)
        return FaultKind.REQUEST.exit_code
    if arguments.clean:
        return _clean(placements, arguments, settings)
    stop = _stop_by_signal()
    show = _JsonShow() if arguments.json else _Show(quiet=arguments.quiet)
    surroundings = Surroundings(settings, os.environ, os.getcwd(), show.say)
    worker = make_worker(placements, surroundings, show, stop, may_fork=True)
    worker.start()
    told = False
    while not worker.join(REFRESH_S):
        show.refresh(worker)
        if stop.is_set() and not told:
            told = True
            show.say("stopping; press Ctrl-C again to stop at once")
    show.end()
    kinds = worker.result()
    return exit_code({FaultKind.STOPPED} if stop.is_set() and kinds else kinds)


def _refuse_without_copy(arguments: argparse.Namespace) -> None:
    """A request file says itself what these options are about."""
    for option, key in (("--checksum", "checksum"), ("--if-exists", "if_exists")):
        if getattr(arguments, key) is not None and not arguments.copy:
            arguments.parser.error(f"{option} is for --copy; in a request file, set {key}")


def _clean(
    placements: Sequence[Placement], arguments: argparse.Namespace, settings: Settings
) -> int:
    """Remove what was left; returns the exit code."""
    show = _Show(quiet=arguments.quiet)
    surroundings = Surroundings(settings, os.environ, os.getcwd(), show.say)
    directories = [] if arguments.copy else filter(None, map(_directory, arguments.what))
    places = list(map(Place, directories))
    places += [place_of_transfer(one) for one in placements if isinstance(one, Transfer)]
    kinds: set[FaultKind] = set()
    for place in dict.fromkeys(places):
        try:
            remove_parts(place, surroundings)
        except Fault as fault:
            if fault.kind is not FaultKind.MISSING:
                kinds.add(fault.kind)
                say(f"FAILED: {masked_text(fault.reason)}", error=True)
    if not kinds and not show.has_lines:
        show.say("there is nothing to be removed")
    return exit_code(kinds)


def _directory(text: str) -> Url | None:
    """A directory, by its path or URL; None if it is something else."""
    if "://" not in text and not os.path.isdir(text):
        return None
    try:
        url = parse_url(text, os.getcwd())
    except ValueError:
        return None
    if url.is_local and not url.is_directory:
        url = url.at(url.path + "/")
    return url if url.is_directory else None


def _stop_by_signal() -> threading.Event:
    """Set by the first signal; the second ends the process, as a library may wait for long."""
    stop = threading.Event()

    def end(number: int, frame: object) -> None:
        if stop.is_set():
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    return stop


def _settings(arguments: argparse.Namespace) -> Settings:
    settings = configured_settings()
    if arguments.streams is not None:
        settings = settings._replace(max_streams=arguments.streams)
    if arguments.retries is not None:
        settings = settings._replace(max_retries=arguments.retries)
    return settings


def _placements(arguments: argparse.Namespace) -> Sequence[Placement]:
    if arguments.copy:
        return [_copy(arguments)]
    requests = [one for one in arguments.what if not (arguments.clean and _directory(one))]
    if requests and "://" in requests[0]:
        arguments.parser.error(
            "to transfer a file without a request file, use --copy SOURCE DESTINATION"
        )
    macros = Macros(_defined(arguments), os.environ)
    placements: list[Placement] = []
    for name in requests:
        placements += placements_of(name, macros)
    return placements


def _defined(arguments: argparse.Namespace) -> dict[str, str]:
    macros = {}
    for word in arguments.define:
        name, mark, value = word.partition("=")
        if not mark or not name:
            arguments.parser.error(f"--define {word!r} must be NAME=VALUE")
        macros[name] = value
    return macros


def _copy(arguments: argparse.Namespace) -> Transfer:
    if len(arguments.what) != 2:
        arguments.parser.error("--copy takes SOURCE and DESTINATION")
    ends = []
    for text in arguments.what:
        try:
            url = parse_url(text, os.getcwd())
        except ValueError as error:
            arguments.parser.error(masked_text(f"{text}: {error}"))
        if url.is_local and os.path.isdir(url.path) and not url.is_directory:
            url = url.at(url.path + "/")
        ends.append(url)
    source, destination = ends
    if arguments.checksum is not None and is_several(source, destination):
        arguments.parser.error("--checksum: a checksum is for one file, not for several")
    return Transfer(
        source,
        destination,
        checksum=arguments.checksum or "",
        if_exists=arguments.if_exists or "overwrite",
    )


def _checksum(text: str) -> str:
    try:
        return read_checksum(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


class _Show:
    """Shows what happens: lines, and on a terminal a last line with what is under way."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._bar = not quiet and sys.stderr.isatty()
        self._sum = ProgressSum()
        self._lock = threading.Lock()
        self._last: tuple[float, int] = (time.monotonic(), 0)
        self._rate = 0.0
        self.has_lines = False  # whether `say` was called

    def say(self, text: str) -> None:
        """A line for a person."""
        self.has_lines = True
        if not self._quiet:
            self._line(text)

    def attempt_ended(self, end: AttemptEnd) -> None:
        """See `placement.worker.Listener`."""
        self._sum.add(end)
        if end.state != COMPLETED:
            self._line(attempt_line(end))
        elif not self._quiet and self._sum.done <= MAX_LISTED:
            more = "; the rest are not listed" * (self._sum.done == MAX_LISTED)
            self._line(attempt_line(end) + more)

    def refresh(self, worker: Worker | WorkerProcesses) -> None:
        """Show the present state."""
        if not self._bar:
            return
        running = list(worker.running)
        now, moved = time.monotonic(), self._sum.bytes_so_far(running)
        before, old = self._last
        self._rate = 0.7 * self._rate + 0.3 * max(moved - old, 0) / max(now - before, 0.001)
        self._last = now, moved
        width = os.get_terminal_size(sys.stderr.fileno()).columns
        with self._lock:
            sys.stderr.write("\r\x1b[K" + self._bar_text(running)[: max(width - 1, 10)])
            sys.stderr.flush()

    def end(self) -> None:
        """The last line."""
        if self._bar:
            sys.stderr.write("\r\x1b[K")
        if not self._quiet:
            self._line(self._sum.summary())

    def _bar_text(self, running: list[Any]) -> str:
        known = [one.progress for one in running if one.progress.total]
        parts = [f"{self._sum.done} done", f"{len(running)} running"]
        if known:
            total = sum(one.total for one in known)
            there = sum(one.offset + one.moved for one in known)
            share = min(there / total, 1.0)
            bar = "#" * round(20 * share)
            left = (total - there) / self._rate if self._rate > 1 else 0
            parts.append(f"[{bar:<20}] {share:4.0%} of {size_text(total)}")
            parts.append(f"{rate_text(self._rate, 1)}" + (f", {left:.0f} s left" if left else ""))
        if running:
            parts.append(printable(name_of(running[0].placement)))
        return "  ".join(parts)

    def _line(self, text: str) -> None:
        with self._lock:
            if self._bar:
                sys.stderr.write("\r\x1b[K")
            try:
                say(*masked_text(text).split("\n"), error=True, flush=True)
            except OSError:  # a full disk: the transfers go on, and have their exit code
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


class _JsonShow(_Show):
    """A line of JSON for each attempt, on standard output."""

    def __init__(self) -> None:
        super().__init__(quiet=True)

    def attempt_ended(self, end: AttemptEnd) -> None:
        """See `placement.worker.Listener`."""
        self._sum.add(end)
        with self._lock:
            print(json.dumps(as_json(end)), flush=True)


def as_json(end: AttemptEnd) -> dict[str, Any]:
    """The end of an attempt as fields; see docs/data-placement.md."""
    outcome, one = end.outcome, end.placement
    fields: dict[str, Any] = {
        "state": end.state,
        "attempt": end.attempt,
        "way": end.way,
        "seconds": round(end.seconds, 3),
    }
    if isinstance(one, Transfer):
        fields.update(source=str(one.source), destination=str(one.destination))
    else:
        fields.update(host=masked_text(one.host), allocation_id=one.allocation_id)
    if outcome is not None:
        fields.update(size=outcome.size, moved=outcome.moved, skipped=outcome.skipped)
    if end.fault is not None:
        fields.update(fault=end.fault.kind.name.lower(), reason=masked_text(end.fault.reason))
    if end.delay_s:
        fields["delay_s"] = round(end.delay_s, 3)
    return fields
