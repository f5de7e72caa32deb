"""`condor_pydagman steer`: commands for nodes of a DAG that runs."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping
from shlex import quote
from typing import Any

from condor_pydagman.adapters.request_client import SteeringAnswer, steer
from condor_pydagman.cli.say import say
from condor_pydagman.cli.subcommands import Subparsers, add_subcommand
from condor_pydagman.cli.which_dag import running_dag
from condor_pydagman.feature_table import SERVES_CLIENTS, offered, own
from condor_pydagman.printable import does, number_of
from condor_pydagman.vocabulary import STATE_WORDS

MAX_LISTED = 20  # refused nodes that are shown
_DESCRIPTION = """\
Change a running DAG: single nodes, many nodes, or the DAG itself. Commands for nodes survive a
restart of DAGMan and are kept in a rescue file. DAGMan refuses what it can't do, and says why. You
can steer your own DAGs, root those of all, where DAGMan runs. Exit code: 0 if all was done; 1 if
something was refused, or DAGMan can't be reached; 2 if the command line is wrong."""
# Those that the command line has, by name.
_COMMANDS: Mapping[str, Any] = {
    name: command
    for name, command in (own(SERVES_CLIENTS, "steer_commands", "COMMANDS") or {}).items()
    if command.help
}
_SELECTORS = ("pattern", "state", "category", "group")


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand."""
    parser = add_subcommand(subparsers, "steer", "change a running DAG", _DESCRIPTION)
    inner = parser.add_subparsers(metavar="ACTION", required=True)
    for name, command in _COMMANDS.items():
        text = command.help
        action = add_subcommand(inner, name, text, f"{text[0].upper()}{text[1:]}.", run)
        action.add_argument(
            "dag", metavar="DAG", help="the first DAG file, or the cluster of DAGMan's job"
        )
        action.add_argument("--json", action="store_true", help="print DAGMan's answer as JSON")
        action.set_defaults(command=name)
        if command.of != "dag":
            _add_selectors(action)
        for option in command.options:
            _add_option(action, option)
        if name == "add":
            action.add_argument("--dry", action="store_true", help="only check it")


def _add_selectors(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("nodes", nargs="*", metavar="NODE", help="names of nodes")
    parser.add_argument("--pattern", default="", help="nodes whose names match *, ? and [...]")
    parser.add_argument(
        "--state", default="", choices=tuple(STATE_WORDS), help="all nodes in this state"
    )
    parser.add_argument("--category", default="", help="all nodes of a category")
    parser.add_argument("--group", default="", help="all nodes of a SITE_GROUP")
    parser.add_argument("--dry", action="store_true", help="only show what would be done")
    parser.set_defaults(more_words="nodes")


def _add_option(parser: argparse.ArgumentParser, option: Any) -> None:
    word, _, metavar = option.line.partition(" ")
    if option.kind is bool:
        parser.add_argument(word, action="store_true", help=option.help)
    elif option.kind is dict:
        parser.add_argument(
            word, dest=option.name, action="append", metavar=metavar, help=option.help
        )
    elif word.startswith("--"):
        parser.add_argument(word, type=option.kind, metavar=metavar or None, help=option.help)
    elif word:
        count = "?" if option.name == "prefix" else None
        parser.add_argument(
            option.name, nargs=count, type=option.kind, metavar=word, help=option.help
        )


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options of the command, as a request has them."""
    command = _COMMANDS[arguments.command]
    if command.name == "add":
        if arguments.file == "-":
            return {"text": sys.stdin.buffer.read().decode("utf-8", "surrogateescape")}
        return {"file": os.path.abspath(arguments.file)}
    given = {one.name: getattr(arguments, one.name) for one in command.options if one.line}
    # A 0 counts: it is no limit, or no retry.
    found = {
        name: value for name, value in given.items() if value is not None and value is not False
    }
    if "vars" in found:
        pairs = [pair.partition("=") for pair in found["vars"]]
        if not all(key and equals for key, equals, _ in pairs):
            arguments.parser.error("--var takes NAME=VALUE")
        found["vars"] = {key: value for key, _, value in pairs}
    if command.name in ("set", "limits") and not found:
        words = ", ".join(one.line.partition(" ")[0] for one in command.options if one.line)
        arguments.parser.error(f"give at least one of {words}")
    return found


def run(arguments: argparse.Namespace) -> int:
    """Ask; returns the exit code.

    Raises:
        PydagmanError: DAGMan can't be reached, or has refused the request as a whole.
    """
    command = arguments.command
    options = _options(arguments)
    which: dict[str, Any] = {"dry": True} if getattr(arguments, "dry", False) else {}
    if _COMMANDS[command].of != "dag":
        which = {name: getattr(arguments, name) for name in (*_SELECTORS, "dry")}
        which["names"] = arguments.nodes
        if not (arguments.nodes or any(which[name] for name in _SELECTORS)):
            options_text = ", --".join(_SELECTORS)
            arguments.parser.error(f"name the nodes, or select them by one of --{options_text}")
    answer = steer(running_dag(arguments.dag), command, **which, **options)
    if arguments.json:
        print(json.dumps(answer.fields, indent=4))
    else:
        _show(command, answer, dry=getattr(arguments, "dry", False))
    return int(answer.refused_count > 0)


def _show(command: str, answer: SteeringAnswer, *, dry: bool) -> None:
    if _COMMANDS[command].of == "dag":
        _show_dag(command, answer)
        return
    would = "would be" if dry else does(answer.done, "be")
    nodes = number_of(answer.done, "node")
    say(f"{nodes} {would} {_COMMANDS[command].done}{_with_descendants(answer)}")
    for name, reason in answer.refused[:MAX_LISTED]:
        say(f"refused: {name}: {reason}")
    more = answer.refused_count - min(len(answer.refused), MAX_LISTED)
    if more > 0:
        say(f"and {more} more")


def _with_descendants(answer: SteeringAnswer) -> str:
    count = int(answer.fields.get("descendants", 0))
    them = "it" if answer.done == 1 else "them"
    return f", and {count} more that depend{'s' * (count == 1)} on {them}" if count else ""


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
    if "halt_file" in fields:
        say(f"The halt file keeps the DAG halted; to resume it: rm {quote(fields['halt_file'])}")
    limits = (f"{name} {value or 'no limit'}" for name, value in fields["limits"].items())
    say(f"limits: {', '.join(limits)}")
    say(f"priority: {fields['priority']}")
    for lines_of in offered("report", "info_lines"):
        say(*lines_of(fields))
    if fields.get("recorded") is False:
        say("the schedd does not answer: if DAGMan restarts now, this change is lost")
