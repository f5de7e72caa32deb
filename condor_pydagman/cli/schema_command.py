"""`condor_pydagman schema`: the JSON schemas of what commands print."""

from __future__ import annotations

import argparse
import os
import sys

from condor_pydagman.adapters.files import read_text
from condor_pydagman.cli.say import say
from condor_pydagman.cli.subcommands import Subparsers, add_subcommand

# Names of the schemas, and what is printed in that form.
SCHEMAS = {
    "events": "a line of condor_pydagman events, and what NOTIFY sends",
    "watch": "a line of condor_pydagman watch --json",
    "explain": "what condor_pydagman explain --json prints",
    "info": "what condor_pydagman steer info --json prints",
    "nodes": "a line of condor_pydagman nodes --json",
    "ls": "a line of condor_pydagman ls --json",
    "top": "a line of condor_pydagman top --json",
    "runs": "a line of condor_pydagman runs --json",
    "checker": "what condor_dag_checker -json prints",
    "lint": "what condor_dag_checker -lint -json prints",
}
_DIRECTORY = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "schemas")
_DESCRIPTION = """\
Print the JSON schema of what a command prints as JSON; without NAME, list the schemas. "$id" ends
with the version of the form."""


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand to those of `condor_pydagman`."""
    parser = add_subcommand(
        subparsers, "schema", "print the JSON schema of what a command prints", _DESCRIPTION, run
    )
    parser.add_argument(
        "name", nargs="?", choices=tuple(SCHEMAS), metavar="NAME", help=", ".join(SCHEMAS)
    )


def run(arguments: argparse.Namespace) -> int:
    """Print it; returns the exit code.

    Raises:
        OSError: the installation lacks it.
    """
    if arguments.name is None:
        for name, what in SCHEMAS.items():
            say(f"{name:<8} {what}")
    else:
        sys.stdout.write(schema_text(arguments.name))
    return 0


def schema_text(name: str) -> str:
    """The text of one of SCHEMAS.

    Raises:
        OSError: the installation lacks it.
    """
    return read_text(os.path.join(_DIRECTORY, f"{name}.json"))
