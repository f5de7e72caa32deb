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
import re
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NoReturn

from condor_pydagman import __version__, feature_table
from condor_pydagman.cli.say import say
from condor_pydagman.dagman_job.options import nearest, one_spelling
from condor_pydagman.errors import PydagmanError, bindings_missing, is_about_bindings, own_spelling

VERBOSE = "--verbose"
_CHOICE = re.compile(
    r"argument (?P<what>\w+): invalid choice: '(?P<typed>.*?)' \(choose from (.*)\)$"
)
# Functions of other commands, by words that users may try here.
_ELSEWHERE = {
    "check": "condor_dag_checker checks a DAG; its option -lint checks more",
    "lint": "condor_dag_checker -lint finds mistakes in a DAG",
    "submit": "condor_submit_dag submits a DAG",
    "config": "knobs shows the configuration in force",
    **dict.fromkeys(("dot", "graph", "plot", "show"), "draw draws a DAG"),
    **dict.fromkeys(("status", "q"), "watch and ls show how far DAGs are, explain says why"),
    **dict.fromkeys(("stop", "remove", "rm", "kill"), "condor_rm removes a DAG that runs"),
    "log": "logs prints what a node's job has written, tail what has happened last in a DAG",
    **dict.fromkeys(
        ("hold", "release", "rerun", "retry", "cancel", "skip", "halt", "resume", "add"),
        "condor_pydagman steer changes a DAG that runs",
    ),
}


class Parser(argparse.ArgumentParser):
    """Prints short error messages."""

    def error(self, message: str) -> NoReturn:
        """Print the message, the nearest word and where to read more; exit with 2."""
        lines = [f"{self.prog}: {self._plain(message)}"]
        lines.append(f"{self.prog} -help shows all options")
        say(*lines, error=True)
        self.exit(2)

    def _plain(self, message: str) -> str:
        choice = _CHOICE.match(message)
        if choice:
            typed, words = choice["typed"], re.findall(r"\w[\w-]*", choice[3])
            known = f"choose one of {', '.join(words)}" if words else "this installation has none"
            near = nearest(typed, words)
            hint = _ELSEWHERE.get(typed.lower(), "") if choice["what"] == "COMMAND" else ""
            hint = hint or (f"did you mean {near}?" if near else known)
            return f"there is no {choice['what'].lower()} {typed}; {hint}"
        if message.startswith("unrecognized arguments: "):
            return self.unexpected_word(message.partition(": ")[2].split()[0])
        return message

    def unexpected_word(self, word: str) -> str:
        """The message for a word that this command does not accept."""
        near = nearest(word, self._option_string_actions) if word.startswith("-") else ""
        hint = f"; did you mean {near}?" if near else ""
        if os.path.isfile(word) and not self._get_positional_actions():
            hint = f": it is about all DAGs; condor_pydagman watch {word} shows a single one"
        return f"{'unknown option' if word.startswith('-') else 'unexpected word'} {word}{hint}"


def parse(parser: Parser, argv: Sequence[str]) -> argparse.Namespace:
    """Parse a command line; exits with 2 if it is wrong, with 0 after -help and -version."""
    words, inner, head = list(argv), parser, 0
    if not words:
        parser.print_help()
        parser.exit(2)
    if words[0].lower() == "help":
        words = [*words[1:], "--help"]
    elif one_spelling(words[0]) == "version":
        verbose = "verbose" in map(one_spelling, words[1:2])
        words = [f"--version={VERBOSE if verbose else ''}"]
    while True:
        choices = _commands(inner)
        end = next((n for n in range(head, len(words)) if words[n] in choices), len(words))
        ours = range(head, end if choices else _last_option(inner, words, head))
        for number in ours:
            words[number] = _as_known(words[number], inner)
        if end == len(words) or not choices:
            break
        if inner is not parser:  # options before the word of an action are that action's
            words[head : end + 1] = [words[end], *words[head:end]]
            end = head
        inner, head = choices[words[end]], end + 1
    if inner is not parser and _commands(inner) and head == len(words):
        inner.print_help()
        parser.exit(2)
    found, unexpected = parser.parse_known_args(words)
    more = inner.get_default("more_words")  # where words after options belong
    if more and unexpected and not any(word.startswith("-") for word in unexpected):
        setattr(found, more, [*getattr(found, more), *unexpected])
    elif unexpected:
        inner.error("unrecognized arguments: " + unexpected[0])
    return found


def _commands(parser: argparse.ArgumentParser) -> dict[str, Parser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def _last_option(parser: Parser, words: Sequence[str], head: int) -> int:
    """Where our own options end: the command of `pool run` has options of its own."""
    if any(action.nargs == argparse.REMAINDER for action in parser._actions):
        return next((n for n in range(head, len(words)) if words[n][:1] != "-"), len(words))
    return words.index("--", head) if "--" in words[head:] else len(words)


def _as_known(word: str, parser: Parser) -> str:
    """An option as the parser knows it, whatever its dashes and case."""
    known = parser._option_string_actions
    name, equals, value = word.partition("=")
    if not word.startswith("-") or name in known or not name.strip("-"):
        return word
    wanted = one_spelling(name)
    for option in known:
        if option.startswith("--") and one_spelling(option) == wanted:
            return option + equals + value
    abbreviated: Callable[[str], str] | None = parser.get_default("abbreviated")
    meant = f"--{abbreviated(name)}" if abbreviated is not None else ""
    return meant + equals + value if meant in known else word


Action = Callable[[argparse.Namespace], int]


def main(argv: Sequence[str] | None = None) -> int:
    """Do what the command line says; returns the exit code."""
    _make_output_safe()
    words = sys.argv[1:] if argv is None else argv
    try:
        arguments = parse(_parser(words[0] if words else ""), words)
        action: Action = arguments.action
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
        if not is_about_bindings(error):
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
    say(*f"condor_pydagman: {own_spelling(message)}".split("\n"), error=True)
    return 1


class _Version(argparse._VersionAction):
    """Prints the version, or with --verbose those of all that takes part; then exits."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.nargs, self.metavar = "?", VERBOSE

    def __call__(self, parser: argparse.ArgumentParser, _: object, value: Any, *rest: Any) -> None:
        if value == VERBOSE:
            from condor_pydagman.cli import version_report

            say(*version_report.text().split("\n"))
        else:
            from condor_pydagman.engine import FORM

            say(f"{__version__} ({FORM})")
        parser.exit()


def _parser(word: str = "") -> Parser:
    """The parser of a subcommand, or of all if `word` is none; of none for the version, which is
    asked for where something that they need is broken."""
    parser = Parser(
        prog="condor_pydagman",
        description="Run, watch, explain, steer and report on DAGs.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--version",
        action=_Version,
        help="show the version; with --verbose those of all that takes part, for a bug report",
    )
    subparsers: Any = parser.add_subparsers(metavar="COMMAND", required=True)
    every = [] if one_spelling(word) == "version" else list(SUBCOMMANDS)
    for name in [word] if word in SUBCOMMANDS else every:
        import_module(f"condor_pydagman.{SUBCOMMANDS[name]}").add_parser(subparsers)
    return parser


# Names of the subcommands and the modules that add them.
SUBCOMMANDS = {
    "run": "cli.run_dag",
    "dry-run": "cli.dry_run",
    "watch": "cli.watch",
    "web": "cli.web_command",
    "explain": "cli.explain",
    "ls": "cli.ls",
    "top": "cli.top",
    "runs": "cli.runs_command",
    "metrics": "cli.metrics_command",
    "nodes": "cli.nodes_command",
    "tail": "cli.tail",
    "logs": "cli.logs_command",
    "report": "cli.report_command",
    "events": "cli.events",
    "steer": "cli.steer",
    "rescue": "cli.rescue_command",
    "transfer": "placement.transfer_command",
    "allocations": "placement.allocations_command",
    **feature_table.SUBCOMMANDS,
    "draw": "cli.draw",
    "flatten": "cli.flatten",
    "schema": "cli.schema_command",
    "knobs": "cli.knobs_command",
    "pool": "cli.pool_command",
}

if __name__ == "__main__":
    sys.exit(main())
