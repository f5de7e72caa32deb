"""`condor_pydagman`: what the stock tools do not have, a subcommand each.

A subcommand is a function that adds its parser and names the function that does the work; the
table at the end lists them.  Only the module of the one that is asked for is imported.

Exit codes: 0 all is well, 1 it is not (the message says why), 2 the command line is wrong; those of
`transfer` are its own.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from condor_pydagman import __version__
from condor_pydagman.cli.command_line import Parser, parse
from condor_pydagman.errors import PydagmanError, bindings_missing
from condor_pydagman.printable import printable

Action = Callable[[argparse.Namespace], int]


def main(argv: Sequence[str] | None = None) -> int:
    """Do what the command line says; returns the exit code."""
    _make_output_safe()
    words = sys.argv[1:] if argv is None else argv
    arguments = parse(_parser(words[0] if words else ""), words)
    action: Action = arguments.action
    try:
        code = action(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # whoever reads has enough, `| head` for one
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # a full disk, most often
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _failed(str(error))
    except PydagmanError as error:
        return _failed(str(error))
    except ImportError as error:
        if error.name not in ("htcondor2", "classad2"):
            raise
        return _failed(bindings_missing(error))
    except KeyboardInterrupt:
        return 130


def _make_output_safe() -> None:
    """What the terminal's encoding lacks is shown as codes; a closed output takes nothing."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  # to the end of the process
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _failed(message: str) -> int:
    lines = map(printable, message.split("\n"))
    print("condor_pydagman: " + "\n".join(lines), file=sys.stderr)
    return 1


class _Version(argparse._VersionAction):
    """As "version", but files are looked at only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *rest: Any) -> None:
        from condor_pydagman.engine import FORM

        self.version = f"{__version__} ({FORM})"
        super().__call__(parser, *rest)


def _parser(word: str = "") -> Parser:
    """The parser of a subcommand, or of all if `word` is none."""
    parser = Parser(
        prog="condor_pydagman",
        description="Run, watch, explain, steer and report on DAGs.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version)
    subparsers: Any = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in [word] if word in SUBCOMMANDS else SUBCOMMANDS:
        import_module(f"condor_pydagman.cli.{SUBCOMMANDS[name]}").add_parser(subparsers)
    return parser


# Names of the subcommands and the modules of this folder that add them.
SUBCOMMANDS = {
    "run": "run_dag",
    "dry-run": "dry_run",
    "watch": "watch",
    "web": "web_command",
    "explain": "explain",
    "ls": "ls",
    "tail": "tail",
    "report": "report_command",
    "events": "events",
    "steer": "steer",
    "rescue": "rescue_command",
    "transfer": "transfer_command",
    "sites": "sites_command",
    "limits": "limits_command",
    "draw": "draw",
    "flatten": "flatten",
    "knobs": "knobs_command",
    "pool": "pool_command",
}

if __name__ == "__main__":
    sys.exit(main())
