"""`condor_pydagman steer`: commands for nodes of a DAG that runs."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from condor_pydagman import features
from condor_pydagman.adapters.request_client import SteeringAnswer, steer
from condor_pydagman.cli.say import say
from condor_pydagman.cli.which_dag import running_dag
from condor_pydagman.vocabulary import STATE_WORDS

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]
else:
    Subparsers = Any

MAX_LISTED = 20  # refused nodes that are shown
_DESCRIPTION = """\
Change a running DAG: single nodes, many nodes, or the DAG itself. Commands for nodes survive a
restart of DAGMan and are kept in a rescue file. DAGMan refuses what it can't do, and says why. You
can steer only your own DAGs, on the machine where DAGMan runs. Exit code: 0 if all was done; 1 if
something was refused, or DAGMan can't be reached; 2 if the command line is wrong."""
_NODE_COMMANDS = {
    "cancel": "remove the nodes' jobs; the nodes fail, without retries",
    "hold": "put the nodes' jobs on hold",
    "release": "release the nodes' jobs",
    "rerun": "run nodes again that failed or are done",
    "done": "mark nodes as done, because their work was done in another way",
    "skip": "skip nodes that have not started; they count as done",
    "rematch": "move groups of nodes to other sites, where they start over",
    "set": "set priority, retries, timeouts, category or VARS of nodes that have not started",
}
_DAG_COMMANDS = {
    "halt": "start nothing new; jobs in the queue continue",
    "resume": "resume a halted DAG",
    "limits": "set throttles",
    "priority": "set the priority that is added to that of every node, including jobs in the queue",
    "cancel-all": "end the DAG as condor_rm does: rescue file, remove all jobs, FINAL node",
    "add": "add the nodes and edges of a DAG file to the DAG",
    "names": "list node names that start with a text, for shell completion: 1,000 at most",
    "info": "show which DAGMan runs the DAG, whether it is halted, and its throttles",
}
_SELECTORS = ("pattern", "state", "category", "group")
_LIMITS = ("jobs", "idle", "pre", "post")


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "steer",
        help="change a running DAG",
        description=_DESCRIPTION,
        allow_abbrev=False,
    )
    inner = parser.add_subparsers(metavar="ACTION", required=True)
    for name, text in _NODE_COMMANDS.items():
        _add_options(name, _add_selectors(_action(inner, name, text)))
    for name, text in _DAG_COMMANDS.items():
        _add_options(name, _action(inner, name, text))


def _action(inner: Subparsers, name: str, text: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = inner.add_parser(
        name, help=text, description=f"{text[0].upper()}{text[1:]}.", allow_abbrev=False
    )
    parser.add_argument(
        "dag", metavar="DAG", help="the first DAG file, or the cluster of DAGMan's job"
    )
    parser.add_argument("--json", action="store_true", help="print DAGMan's answer as JSON")
    parser.set_defaults(action=run, parser=parser, command=name)
    return parser


def _add_selectors(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("nodes", nargs="*", metavar="NODE", help="names of nodes")
    parser.add_argument("--pattern", default="", help="nodes whose names match *, ? and [...]")
    parser.add_argument(
        "--state", default="", choices=tuple(STATE_WORDS), help="all nodes in this state"
    )
    parser.add_argument("--category", default="", help="all nodes of a category")
    parser.add_argument("--group", default="", help="all nodes of a SITE_GROUP")
    parser.add_argument("--dry", action="store_true", help="only show what would be done")
    parser.set_defaults(more_words="nodes")
    return parser


def _add_options(name: str, parser: argparse.ArgumentParser) -> None:
    if name == "cancel":
        parser.add_argument(
            "--retry", action="store_true", help="retry the nodes if they have retries left"
        )
    elif name == "rerun":
        parser.add_argument(
            "--descendants",
            action="store_true",
            help="also run again all nodes that depend on them",
        )
    elif name == "set":
        _add_settings(parser)
    elif name == "priority":
        parser.add_argument(
            "value", type=int, metavar="N", help="as -Priority of condor_submit_dag"
        )
    elif name == "add":
        parser.add_argument("file", metavar="FILE", help="a DAG file; - for standard input")
        parser.add_argument("--dry", action="store_true", help="only check it")
    elif name == "names":
        parser.add_argument("prefix", nargs="?", metavar="TEXT", help="how the names start")
    elif name == "halt":
        parser.add_argument("--reason", help="reason to write into .dagman.out")
    elif name == "limits":
        for limit in _LIMITS:
            parser.add_argument(f"--{limit}", type=int, metavar="N", help="0: no limit")


def _add_settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--priority", type=int, metavar="N", help="higher runs first")
    parser.add_argument("--retries", type=int, metavar="N", help="as RETRY")
    parser.add_argument("--timeout", metavar="LIMITS", help='as TIMEOUT: "QUEUED 1h RUNNING 30m"')
    parser.add_argument("--new-category", metavar="NAME", help="as CATEGORY; must exist in the DAG")
    parser.add_argument(
        "--var", action="append", metavar="NAME=VALUE", help="as VARS; can be repeated"
    )


def _settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options of `set`, as a request has them."""
    found: dict[str, Any] = {
        name: getattr(arguments, name)
        for name in ("priority", "retries", "timeout", "new_category")
        if getattr(arguments, name) is not None
    }
    pairs = [pair.partition("=") for pair in arguments.var or ()]
    if not all(key and equals for key, equals, _ in pairs):
        arguments.parser.error("--var takes NAME=VALUE")
    if pairs:
        found["vars"] = {key: value for key, _, value in pairs}
    if not found:
        arguments.parser.error(
            "give at least one of --priority, --retries, --timeout, --new-category, --var"
        )
    return found


def run(arguments: argparse.Namespace) -> int:
    """Ask; returns the exit code.

    Raises:
        PydagmanError: DAGMan can't be reached, or has refused the request as a whole.
    """
    command = arguments.command
    wanted = {name: getattr(arguments, name, None) for name in _OPTIONS}
    options = {name: value for name, value in wanted.items() if value not in (None, False)}
    if command == "set":
        options = _settings(arguments)
    which: dict[str, Any] = {}
    if command in _NODE_COMMANDS:
        which = {name: getattr(arguments, name) for name in (*_SELECTORS, "dry")}
        which["names"] = arguments.nodes
        if not (arguments.nodes or any(which[name] for name in _SELECTORS)):
            options_text = ", ".join(f"--{name}" for name in _SELECTORS)
            arguments.parser.error(f"name the nodes, or select them by one of {options_text}")
    if command == "add":
        options, which = _piece(arguments.file), {"dry": arguments.dry}
    if command == "limits" and not options:
        arguments.parser.error(
            f"give at least one of {', '.join(f'--{limit}' for limit in _LIMITS)}"
        )
    answer = steer(running_dag(arguments.dag), command, **which, **options)
    if arguments.json:
        print(json.dumps(answer.fields, indent=4))
    else:
        _show(command, answer, dry=getattr(arguments, "dry", False))
    return int(answer.refused_count > 0)


def _piece(file: str) -> dict[str, Any]:
    """What is to be added, as a request has it."""
    if file == "-":
        return {"text": sys.stdin.buffer.read().decode("utf-8", "surrogateescape")}
    return {"file": os.path.abspath(file)}


_OPTIONS = ("retry", "descendants", "reason", "value", "prefix", *_LIMITS)


def _show(command: str, answer: SteeringAnswer, *, dry: bool) -> None:
    if command in _DAG_COMMANDS:
        _show_dag(command, answer)
        return
    would = "would be " if dry else ""
    nodes = "node" if answer.done == 1 else "nodes"
    say(f"{answer.done} {nodes} {would}{_DONE[command]}{_with_descendants(answer)}")
    for name, reason in answer.refused[:MAX_LISTED]:
        say(f"refused: {name}: {reason}")
    more = answer.refused_count - min(len(answer.refused), MAX_LISTED)
    if more > 0:
        say(f"and {more} more")


def _with_descendants(answer: SteeringAnswer) -> str:
    count = int(answer.fields.get("descendants", 0))
    them = "it" if answer.done == 1 else "them"
    return f", and {count} more that depend{'s' * (count == 1)} on {them}" if count else ""


_DONE = {
    "cancel": "cancelled",
    "hold": "put on hold",
    "release": "released",
    "rerun": "run again",
    "done": "marked done",
    "skip": "skipped",
    "rematch": "told to leave its site",
    "set": "changed",
}


def _show_dag(command: str, answer: SteeringAnswer) -> None:
    fields = answer.fields
    if command == "names":
        say(*fields["names"])
        return
    if command == "add":
        would = "would be " if fields.get("dry") else ""
        say(f"{answer.done} node{'' if answer.done == 1 else 's'} {would}added")
        return
    if command == "cancel-all":
        say("the DAG is ending; DAGMan writes a rescue file with what is left")
        return
    if command == "info":
        for name in ("dag", "cluster", "pid", "program", "nodes"):
            say(f"{name}: {fields[name]}")
    say(f"halted: {'yes' if fields['halted'] else 'no'}")
    limits = (f"{name} {value or 'no limit'}" for name, value in fields["limits"].items())
    say(f"limits: {', '.join(limits)}")
    say(f"priority: {fields['priority']}")
    for lines_of in features.offered("report", "info_lines"):
        say(*lines_of(fields))
    if fields.get("recorded") is False:
        say("the schedd does not answer: if DAGMan restarts now, this change is lost")
