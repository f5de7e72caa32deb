"""`condor_pydagman explain`: why a DAG does not go on, or why it has failed."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import textwrap
from collections.abc import Iterator

from condor_pydagman.adapters.request_client import steer
from condor_pydagman.adapters.shown_time import local_text
from condor_pydagman.cli.say import say
from condor_pydagman.cli.subcommands import Subparsers, add_subcommand
from condor_pydagman.cli.which_dag import add_dag_argument, chosen_dag
from condor_pydagman.cli.which_node import no_such_node
from condor_pydagman.errors import FileError, PydagmanError
from condor_pydagman.explain.explain_dag import explain_dag
from condor_pydagman.explain.explain_node import explain_node
from condor_pydagman.explain.explanation import Explanation
from condor_pydagman.explain.fact_collection import collect_facts
from condor_pydagman.feature_table import SERVES_CLIENTS, own
from condor_pydagman.follow.notice import Evidence, Notice
from condor_pydagman.follow.notices.facts import Facts
from condor_pydagman.monitor.found_dag import FoundDag, started_in
from condor_pydagman.names import logged_name
from condor_pydagman.printable import message

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


def explained(found: FoundDag, node: str = "") -> Explanation:
    """Why a DAG does not go on, or has failed; or why a node of it is in its state.

    Raises:
        PydagmanError: there is no such node.
    """
    facts = collect_facts(found, node=node)
    if not node:
        return explain_dag(facts)
    _check_node(facts, node)
    if facts.is_live:
        _check_known(found, facts, node)
    return explain_node(facts, node)


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


def _check_node(facts: Facts, name: str) -> None:
    """Refuse a node that is not there.

    Raises:
        PydagmanError: it names those that are nearly called so.
    """
    known = facts.dag.names if facts.dag is not None else list(facts.run.nodes)
    in_dag = facts.dag is not None and facts.dag.find(name) is not None
    if in_dag or logged_name(name) in facts.run.nodes:
        return
    if not known:
        raise PydagmanError(f"the nodes of {facts.name} are not known: {facts.unknown[0]}")
    raise no_such_node(facts.name, name, known)


def _check_known(found: FoundDag, facts: Facts, name: str) -> None:
    """Refuse a node that the DAG file has got since DAGMan has read it.

    Raises:
        PydagmanError: DAGMan says that it has no such node.
    """
    try:
        names = steer(found.paths.primary, "names", prefix=name).fields["names"]
    except PydagmanError:  # the stock program can't be asked
        return
    if name in names or len(names) == own(SERVES_CLIENTS, "messages", "MAX_NAMES"):
        return
    raise PydagmanError(
        f"node {message(name)} was added to the DAG files of {facts.name} after DAGMan had read"
        " them: DAGMan does not know it. To add it, write its lines to a file:"
        f" condor_pydagman steer add {shlex.quote(facts.name)} FILE"
    )
