"""`condor_pydagman watch`: how far DAGs are, live in the terminal."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from condor_pydagman.adapters.installation import to_install
from condor_pydagman.cli.say import say
from condor_pydagman.cli.subcommands import Subparsers, add_subcommand, seconds
from condor_pydagman.cli.which_dag import my_dags
from condor_pydagman.follow.notice import Weight
from condor_pydagman.follow.overview import Overview
from condor_pydagman.follow.run_model import DagState
from condor_pydagman.monitor.found_dag import find_dag
from condor_pydagman.monitor.outside_facts import OutsideFacts
from condor_pydagman.monitor.watched_dag import WatchedDag
from condor_pydagman.printable import printable
from condor_pydagman.report.overview_text import (
    ASCII_MARKS,
    Line,
    overview_lines,
    plain,
    summary,
    troubles,
)

INTERVAL_S = 1.0
SHARE = 50  # a picture may take one part in so many of the time until the next
EXIT_INTERRUPTED = 130
MAX_TOLD = 1000  # troubles that are remembered, so that each is told once
_DESCRIPTION = """\
Show the progress of DAGs: nodes by state, rate, estimated end, longest running nodes, held jobs and
why, the last failures. The command ends when the DAG ends, with its exit code (of several, the
greatest). Ctrl-C stops only the watching: the DAG continues."""


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand to those of `condor_pydagman`."""
    parser = add_subcommand(
        subparsers, "watch", "show the progress of DAGs, live", _DESCRIPTION, run
    )
    parser.add_argument(
        "dags",
        nargs="*",
        metavar="DAG",
        help="the first DAG file of each submission, or the cluster of DAGMan's job (default: all"
        " your DAGs in the queue, else those running in this directory)",
    )
    parser.add_argument("--once", action="store_true", help="print the state once and exit")
    add_options(parser)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that `condor_pydagman run` has as well."""
    parser.add_argument(
        "--json", action="store_true", help="print a JSON object for each change (docs/watching.md)"
    )
    parser.add_argument(
        "--interval",
        type=seconds(0.1, 86400),
        default=INTERVAL_S,
        metavar="SECONDS",
        help=f"time between updates (default: {INTERVAL_S:g})",
    )


def run(arguments: argparse.Namespace) -> int:
    """Show what the command line asks for; returns the exit code.

    Raises:
        PydagmanError: there is no such DAG.
    """
    found = [find_dag(dag) for dag in arguments.dags] or my_dags()
    outside = OutsideFacts()
    watched = [WatchedDag(dag, outside=outside) for dag in found]
    if arguments.once:
        seen = [dag.look() for dag in watched]
        _printer(arguments)(seen)
        return _exit_code(watched)
    return watch(watched, arguments)


def watch(watched: Sequence[WatchedDag], arguments: argparse.Namespace) -> int:
    """Show DAGs until all have ended; returns the greatest of their exit codes."""
    try:
        with _shown(arguments) as show:
            while True:
                begun = time.thread_time()
                show([dag.look() for dag in watched])
                if all(dag.over for dag in watched):
                    return _exit_code(watched)
                time.sleep(max(arguments.interval, (time.thread_time() - begun) * SHARE))
    except KeyboardInterrupt:
        names = " ".join(dag.found.name for dag in watched)
        say("", f"The DAG continues. To watch it again: condor_pydagman watch {names}", error=True)
        return EXIT_INTERRUPTED


def _exit_code(watched: Sequence[WatchedDag]) -> int:
    """The greatest of those that have ended; 1 for one whose exit code nobody knows."""
    codes = [1 if dag.exit_code is None else dag.exit_code for dag in watched if dag.over]
    return max(codes, default=0)


@contextlib.contextmanager
def _shown(arguments: argparse.Namespace) -> Iterator[Callable[[list[Overview]], None]]:
    """How pictures are shown: in place on a terminal, else a line for each change."""
    if arguments.json or not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        yield _changes(_printer(arguments))
        return
    try:
        from rich.console import Console
        from rich.live import Live
    except ImportError:
        reason = f"the live view needs the Python package rich: {to_install('rich')}"
        say(f"condor_pydagman: {reason}; printing lines instead", error=True)
        yield _changes(_summary_printer())
        return
    console = Console(highlight=False, markup=False)
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:

        def show(seen: list[Overview]) -> None:
            lines = lines_of(seen, console.width)
            if len(seen) > 1 and len(lines) > console.height:
                lines = [[(summary(one, clock), "")] for one in seen]
            live.update(_styled(lines), refresh=True)

        yield show


def _styled(lines: Sequence[Line]) -> Any:
    from rich.text import Text

    safe = ([(printable(_encodable(text)), style) for text, style in line] for line in lines)
    return Text("\n").join(Text.assemble(*line) for line in safe)


def _printer(arguments: argparse.Namespace) -> Callable[[list[Overview]], None]:
    if arguments.json:
        return _print_json
    return _print_pictures if getattr(arguments, "once", False) else _summary_printer()


def _changes(show: Callable[[list[Overview]], None]) -> Callable[[list[Overview]], None]:
    """Shows a picture only if something in it has changed but the time."""
    last: list[object] = []

    def show_changes(seen: list[Overview]) -> None:
        now = [(one.state, one.counts, one.exit_code, len(one.held), one.note) for one in seen]
        if now != last:
            last[:] = now
            show(seen)

    return show_changes


def _print_json(seen: list[Overview]) -> None:
    for one in seen:
        print(json.dumps(one.as_json()), flush=True)


def _summary_printer() -> Callable[[list[Overview]], None]:
    """Prints a line for each DAG, what is wrong with it, once, and the command that says more: when
    it is another one, and at the end."""
    advised: dict[str, str] = {}
    told: set[str] = set()

    def show(seen: list[Overview]) -> None:
        for one in seen:
            lines = [summary(one, clock)]
            lines += [line for line in troubles(one) if f"{one.dag}: {line}" not in told]
            if len(told) > MAX_TOLD:
                told.clear()
            told.update(f"{one.dag}: {line}" for line in lines[1:])
            advice = "\n".join(map(plain, advice_lines(one)))
            if advice and (one.exit_code or advised.get(one.dag) != advice):
                lines.append(f"  {advice}")
            advised[one.dag] = advice
            say(*map(_encodable, lines), flush=True)

    return show


def _print_pictures(seen: list[Overview]) -> None:
    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if terminal else 80
    lines = lines_of(seen, width)
    if terminal and "NO_COLOR" not in os.environ:
        with contextlib.suppress(ImportError):
            from rich.console import Console

            Console(highlight=False, markup=False).print(_styled(lines))
            return
    say(*(_encodable(plain(line)) for line in lines))


def _encodable(line: str) -> str:
    """A bar of characters that the output can show."""
    encoding = sys.stdout.encoding or "ascii"
    return line if encoding.lower().startswith("utf") else line.translate(ASCII_MARKS)


def lines_of(seen: Sequence[Overview], width: int) -> list[Line]:
    """A picture of each DAG, and the command that says more."""
    lines: list[Line] = []
    for one in seen:
        if lines:
            lines.append([])
        lines += overview_lines(one, width, clock)
        lines += advice_lines(one)
    return lines or [[("you have no DAG in the queue", "")]]


def advice_lines(seen: Overview) -> list[Line]:
    """The command that says more."""
    dag = seen.dag
    if seen.state == DagState.NOT_STARTED.value:
        return [[(f"to start it: condor_pydagman run {dag}", "bright_black")]]
    wrong = seen.failures or seen.note or seen.exit_code
    if wrong or any(one.weight is not Weight.NOTE for one in seen.notices):
        return [[(f"to see why, and what to do: condor_pydagman explain {dag}", "bright_black")]]
    if seen.exit_code == 0:
        return [[(f"to see where the time went: condor_pydagman report {dag}", "bright_black")]]
    return []


def clock(when: float) -> str:
    """Local time; with the date if it is not today."""
    moment, today = time.localtime(when), time.localtime()
    form = "%H:%M:%S" if moment[:3] == today[:3] else "%Y-%m-%d %H:%M:%S"
    return time.strftime(form, moment)
