"""`condor_pydagman report`: a run of a DAG as an HTML page, or as a trace for other programs."""

from __future__ import annotations

import argparse
import gc
import io
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator

from condor_pydagman.adapters.local_time import local_text
from condor_pydagman.cli.output_file import write_output
from condor_pydagman.cli.say import say
from condor_pydagman.cli.subcommands import Subparsers, add_subcommand, integer
from condor_pydagman.cli.text_table import columns
from condor_pydagman.cli.which_dag import add_dag_argument, chosen_dag
from condor_pydagman.errors import PydagmanError
from condor_pydagman.explain.failed_nodes import failures_by_kind
from condor_pydagman.explain.known_facts import Excerpt
from condor_pydagman.explain.last_lines import excerpt_of
from condor_pydagman.follow.notice import Notice
from condor_pydagman.follow.notices.collect import notices_of
from condor_pydagman.follow.run_model import Run
from condor_pydagman.graph.model import Dag
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.monitor.plan import with_logs
from condor_pydagman.monitor.told_runs import (
    Told,
    check_has_run,
    compared_run,
    told_of,
)
from condor_pydagman.monitor.watched_dag import facts_by_logs
from condor_pydagman.picture import States, make_picture, svg
from condor_pydagman.picture.graphviz import find_dot
from condor_pydagman.printable import number_of
from condor_pydagman.report.attempt_table import csv_text, json_text
from condor_pydagman.report.comparison import Compared, comparison
from condor_pydagman.report.groups import counted_nodes
from condor_pydagman.report.html_report import ALL_ROWS, MAX_TABLE_ROWS, Subject, html_report

FORMATS = ("html", "csv", "json")
FOLD_ABOVE = 120  # boxes of the picture
MAX_EXCERPTS = 5  # files of failed nodes that are shown
MAX_PICTURE_NODES = 20_000
_DESCRIPTION = """\
Write a report of the last run of a DAG, or of all its runs: timeline, concurrency, critical path,
times by kind of node, failures, interventions, retries, holds, resources, and a picture, in one
HTML file that needs no network.
Other formats: csv and json, a row for each attempt of a node."""


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand to those of `condor_pydagman`."""
    parser = add_subcommand(subparsers, "report", "write a report of a run", _DESCRIPTION, run)
    add_dag_argument(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE",
        help="file to write, - for standard output (default: the name of the DAG file plus"
        " .report.html; standard output for other formats)",
    )  # fmt: skip
    parser.add_argument(
        "--format", choices=FORMATS, default="html", help="what to write (default: html)"
    )
    parser.add_argument(
        "--rows", type=integer(0), default=MAX_TABLE_ROWS, metavar="NUMBER",
        help="rows of a table of the page, 0 for all (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--all-runs", action="store_true",
        help="all runs of the DAG together, those before the last as .dagman.out tells of them",
    )  # fmt: skip
    parser.add_argument("--no-picture", action="store_true", help="omit the picture")
    parser.add_argument(
        "--compare", nargs=2, metavar=("A", "B"),
        help="print where two runs differ: each the last of a DAG, or DAG:N, its run N (-2: the one"
        " before the last)",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Write what the command line asks for; returns the exit code.

    Raises:
        PydagmanError: there is no such DAG, nothing is known of a run, or the file can't be
            written.
    """
    gc.disable()  # to the end of the process: little of what is built here is garbage
    if arguments.compare:
        rows = list(comparison(*map(_compared, arguments.compare)))
        say(*columns(rows, left=(0, 3)))
        return 0
    told = told_of(with_logs(chosen_dag(arguments.dag)), all_runs=arguments.all_runs)
    check_has_run(told)
    name = told.found.name
    output = arguments.output or (f"{name}.report.html" if arguments.format == "html" else "-")
    _write(output, _text(arguments, told))
    if output != "-":
        runs = f", {number_of(len(told.seen.runs), 'run')}" if told.seen is not None else ""
        say(f"{output}: {number_of(len(list(counted_nodes(told.last))), 'node')}{runs}")
    return 0


def _compared(word: str) -> Compared:
    """The run that a word of `--compare` names.

    Raises:
        FileError: there is no such run.
    """
    name, colon, number = word.rpartition(":")
    named = bool(colon) and re.fullmatch(r"-?[1-9][0-9]{0,5}", number) is not None
    named = named and not os.path.exists(word)
    found = chosen_dag(name if named else word)
    told = told_of(with_logs(found))
    check_has_run(told)
    return compared_run(told, int(number) if named else -1, word)


def _text(arguments: argparse.Namespace, told: Told) -> Iterable[str]:
    now = time.time()
    run, dag, end = told.run, told.dag, told.run.ended or now
    numbers = told.seen.numbers if told.seen is not None else None
    if arguments.format == "csv":
        return csv_text(run, dag, end, numbers)
    if arguments.format == "json":
        return json_text(run, dag, end, numbers)
    return page(told, now, most_rows=arguments.rows, with_picture=not arguments.no_picture)


def page(
    told: Told, now: float, *, most_rows: int = MAX_TABLE_ROWS, with_picture: bool = True
) -> Iterator[str]:
    """The report as an HTML page, in pieces.

    Args:
        now: time of the report, seconds since the epoch.
        most_rows: of a table, 0 for all.
    """
    found, run, dag = told.found, told.run, told.dag
    picture, no_picture = "", ""
    if with_picture and dag is not None:
        picture, no_picture = _picture(dag, run, found.name)
    lines = {node: one.lines for node, one in excerpts(found, run, dag).items()}
    all_runs_option = " --all-runs" if told.seen is not None else ""
    subject = Subject(
        found.name, found.state.value, run, dag, now, local_text, tick, told.problem, picture,
        no_picture, lines, _subdags(found, dag),
        _notices(told, now),
        most_rows=most_rows or ALL_ROWS,
        for_all_rows=f"condor_pydagman report {found.name}{all_runs_option} --rows 0",
        all_runs=told.seen,
    )  # fmt: skip
    return html_report(subject)


def _notices(told: Told, now: float) -> tuple[Notice, ...]:
    facts = facts_by_logs(told.found, told.tally)
    return notices_of(facts._replace(now=now, run=told.run, dag=told.dag))


def excerpts(found: FoundDag, history: Run, dag: Dag | None) -> dict[str, Excerpt]:
    """The last lines of the error file of one failed node of each kind, of the first few kinds."""
    firsts = [group[0] for group in failures_by_kind(history, dag)[:MAX_EXCERPTS]]
    written = {failure.node.name: excerpt_of(failure, found, dag) for failure in firsts}
    return {node: excerpt for node, excerpt in written.items() if excerpt is not None}


def _picture(dag: Dag, history: Run, title: str) -> tuple[str, str]:
    """The DAG coloured by outcome, as SVG; or why there is none."""
    if len(dag) > MAX_PICTURE_NODES:
        return "", f"There is no picture of more than {MAX_PICTURE_NODES:,} nodes."
    states = States(dag)
    states.apply_run(dag, history)
    try:
        made = make_picture(dag, states, title, find_dot(), fold_above=FOLD_ABOVE)
    except PydagmanError as error:
        return "", str(error)
    return "".join(svg(made)), ""


def _subdags(found: FoundDag, dag: Dag | None) -> list[tuple[str, str]]:
    if dag is None:
        return []
    return [
        (
            dag.names[node],
            "condor_pydagman report "
            + os.path.join(found.directory, dag.directories.get(node, ""), file),
        )
        for node, file in dag.subdags.items()
    ]


def _write(output: str, pieces: Iterable[str]) -> None:
    if output == "-":
        if isinstance(sys.stdout, io.TextIOWrapper):  # names need not be UTF-8
            sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
        for piece in pieces:
            sys.stdout.write(piece)
        return
    write_output(output, pieces)


def tick(when: float, length: float) -> str:
    """A time on an axis of so many seconds."""
    return time.strftime("%H:%M:%S" if length < 86400 else "%m-%d %H:%M", time.localtime(when))
