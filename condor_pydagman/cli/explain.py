"""`condor_pydagman explain`: why a DAG does not go on, or why it has failed."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import textwrap
from collections.abc import Iterator

from condor_pydagman.adapters.local_time import local_text
from condor_pydagman.cli.say import say
from condor_pydagman.cli.subcommands import Subparsers, add_subcommand
from condor_pydagman.cli.which_dag import add_dag_argument, chosen_dag
from condor_pydagman.errors import FileError
from condor_pydagman.explain.explained import explained
from condor_pydagman.explain.explanation import Explanation
from condor_pydagman.follow.notice import Evidence, Notice
from condor_pydagman.monitor.found_dag import FoundDag, started_in

MIN_WIDTH, MAX_WIDTH = 40, 110
_DESCRIPTION = """\
Explain why a DAG does not progress, or why it failed: the most important cause first, each with
the evidence and what you can do. With NODE, explain the state of that node, and list all that
has happened to it. The DAG can be running or have ended, under this DAGMan or the stock one.
Exit code: 0 if nothing is wrong; 1 if something is, or there is no such DAG; 2 if the command
line is wrong."""


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand."""
    parser = add_subcommand(
        subparsers, "explain", "explain why a DAG does not progress, or failed", _DESCRIPTION, run
    )
    add_dag_argument(parser)
    parser.add_argument("node", nargs="?", metavar="NODE", help="explain this node")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the explanation; returns the exit code.

    Raises:
        PydagmanError: there is no such DAG or node.
    """
    explanation = explained(_chosen(arguments), arguments.node or "")
    if arguments.json:
        print(json.dumps(explanation.to_json(), indent=4))
    else:
        columns = shutil.get_terminal_size((100, 24)).columns
        say(*text_of(explanation, max(MIN_WIDTH, min(columns, MAX_WIDTH))))
    return int(explanation.is_wrong)


def _chosen(arguments: argparse.Namespace) -> FoundDag:
    """The DAG; of the only one of this directory, its node may be named alone."""
    try:
        return chosen_dag(arguments.dag)
    except FileError as error:
        known = [] if arguments.node else started_in(".")
        if len(known) != 1 or os.path.basename(arguments.dag) != arguments.dag:
            raise
        hint = (
            f"to explain a node of {known[0]}: condor_pydagman explain {known[0]} {arguments.dag}"
        )
        raise FileError(f"{error}; {hint}") from None


def text_of(explanation: Explanation, width: int) -> Iterator[str]:
    """The lines of an explanation, at most `width` wide where words allow it."""
    yield from _wrapped(explanation.headline, width)
    for moment in explanation.life:
        yield from _wrapped(f"  {local_text(moment.time)}  {moment.text}", width, indent=23)
    for number, finding in enumerate(explanation.findings, 1):
        yield ""
        mark = f"{number}. "
        yield from _wrapped(mark + finding.sentence, width, indent=len(mark))
        yield from _details(finding, width)


def _details(finding: Notice, width: int) -> Iterator[str]:
    for evidence in finding.evidence:
        yield from _evidence(evidence, width)
    for advice in finding.advice:
        yield from _wrapped(f"   => {advice}", width, indent=6)
    for inner in finding.inner:
        yield ""
        yield from (f"   | {line}".rstrip() for line in text_of(inner, max(width - 5, MIN_WIDTH)))


def _evidence(evidence: Evidence, width: int) -> Iterator[str]:
    when = f", {local_text(evidence.time)}" if evidence.time else ""
    text = f": {evidence.text}" if evidence.text else ""
    yield from _wrapped(f"   - {evidence.source}{when}{text}", width, indent=5)
    yield from (f"       {line}" for line in evidence.lines)


def _wrapped(text: str, width: int, indent: int = 0) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
    )
