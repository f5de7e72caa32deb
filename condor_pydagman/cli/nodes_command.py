"""`condor_pydagman nodes`: the nodes of a DAG as a list, for scripts."""

from __future__ import annotations

import argparse
import gc
import json
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

from condor_pydagman.cli.autoformat import LETTERS, AutoFormat
from condor_pydagman.cli.say import say
from condor_pydagman.cli.subcommands import Subparsers, add_subcommand
from condor_pydagman.cli.which_dag import add_dag_argument, chosen_dag
from condor_pydagman.dagman_job.options import nearest
from condor_pydagman.errors import FileError, UsageError
from condor_pydagman.follow.shown_states import KEYS, LOOKS, Shown
from condor_pydagman.monitor.plan import with_logs
from condor_pydagman.monitor.told_runs import Told, told_of
from condor_pydagman.monitor.which_node import no_such_node
from condor_pydagman.names import logged_name
from condor_pydagman.report.node_list import FIELDS, VERSION, is_pattern, node_rows

FOR_PEOPLE = ("node", "state", "attempts", "job", "value", "reason")
_STATES = {word.lower(): one for one, look in LOOKS.items() for word in (look.word, look.key)}
_AT_ONCE = 1000  # lines that are written together
_DESCRIPTION = """\
List the nodes of a DAG, each with its state and with what is known of its last attempt, as
HTCondor's tools list jobs. The DAG can be running or have ended, under this DAGMan or the stock
one. Exit code: 0 if the list was printed, be it empty; 1 if there is no such DAG or node; 2 if the
command line is wrong."""


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand to those of `condor_pydagman`."""
    parser = add_subcommand(subparsers, "nodes", "list the nodes of a DAG", _DESCRIPTION, run)
    add_dag_argument(parser)
    parser.add_argument(
        "nodes", nargs="*", metavar="NODE", help="these nodes; * ? and [...] match parts of names"
    )
    parser.add_argument(
        "--state",
        type=_states,
        default=(),
        metavar="STATE,...",
        help=f"nodes in one of these states: {', '.join(KEYS)}",
    )
    parser.add_argument(
        "--af",
        "--autoformat",
        nargs="+",
        type=_field,
        metavar="ATTRIBUTE",
        help=f"print these values; -af:LETTERS as of condor_q, some of {LETTERS}",
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object per line; with --af these values"
    )
    parser.set_defaults(more_words="nodes", letters="", abbreviated=partial(_with_letters, parser))


def _with_letters(parser: argparse.ArgumentParser, word: str) -> str:
    """The name of the option -af, if a word is this with letters, which are kept."""
    name, colon, letters = word.lstrip("-").partition(":")
    if not colon or name.lower() not in ("af", "autoformat"):
        return ""
    parser.set_defaults(letters=letters)
    return name.lower()


def run(arguments: argparse.Namespace) -> int:
    """Print the list; returns the exit code.

    Raises:
        PydagmanError: there is no such DAG or node.
    """
    try:
        named = arguments.letters, arguments.af
        form = AutoFormat(*(named if arguments.af else ("h", FOR_PEOPLE, "-")))
    except UsageError as error:
        arguments.parser.error(str(error))
    gc.disable()  # to the end of the process: little of what is built here is garbage
    told = told_of(with_logs(chosen_dag(arguments.dag, ask=False)))
    if told.problem:
        say(f"condor_pydagman: states of nodes may be missing: {told.problem}", error=True)
    _check(told, arguments.nodes)
    which: dict[str, Any] = {"states": arguments.state, "names": arguments.nodes}
    rows = partial(node_rows, told.last, told.dag, told.last.ended or time.time(), **which)
    if arguments.json:
        lines = _json_lines(rows, list(dict.fromkeys(["node", *(arguments.af or FIELDS)])))
    else:
        lines = form.lines(partial(rows, form.fields))
    try:
        for piece in _pieces(lines):
            sys.stdout.write(piece)
    except re.error as error:  # Python 3.9 does not understand [[-!]
        raise UsageError(f"{' '.join(arguments.nodes)}: {error}") from None
    return 0


def _check(told: Told, names: Sequence[str]) -> None:
    """Refuse nodes that are not there.

    Raises:
        FileError: neither the DAG file nor the logs can be read.
        UsageError: there is no such node.
    """
    if not told.last.nodes and told.dag is None:
        raise FileError(f"nothing is known of the nodes of {told.found.name}")
    for name in names:
        if not (logged_name(name) in told.last.nodes or is_pattern(name)):
            raise no_such_node(told.found.name, name, told.last.nodes)


def _json_lines(rows: Any, fields: Sequence[str]) -> Iterator[str]:
    for row in rows(fields):
        yield json.dumps({"v": VERSION, **dict(zip(fields, row))})


def _pieces(lines: Iterator[str]) -> Iterator[str]:
    """Lines, some of them together."""
    for some in iter(lambda: list(islice(lines, _AT_ONCE)), []):
        yield "\n".join([*some, ""])


def _states(text: str) -> list[Shown]:
    words = [word.strip().lower() for word in text.split(",")]
    for word in words:
        if word not in _STATES:
            raise _unknown("state", word, _STATES, KEYS)
    return [_STATES[word] for word in words]


def _field(text: str) -> str:
    """The field that a word means, whatever its case."""
    if text.lower() not in FIELDS:
        what = "attribute" if not text.endswith(".dag") else "attribute (the DAG comes before -af)"
        raise _unknown(what, text, FIELDS, FIELDS)
    return text.lower()


def _unknown(what: str, word: str, known: Iterable[str], shown: Sequence[str]) -> Exception:
    near = nearest(word, known)
    hint = f"did you mean {near}?" if near else f"choose one of {', '.join(shown)}"
    return argparse.ArgumentTypeError(f"there is no {what} {word}; {hint}")
