"""What the subcommands of `condor_pydagman` have in common: their parsers, numbers as values."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from math import nan
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]
else:
    Subparsers = Any


def add_subcommand(
    subparsers: Subparsers,
    name: str,
    summary: str,
    description: str,
    action: Callable[[argparse.Namespace], int] | None = None,
) -> argparse.ArgumentParser:
    """Add a subcommand, or an action of one.

    Args:
        summary: stands in the list of all of them.
        action: does the work and returns the exit code; None if it has actions of its own.
    """
    parser: argparse.ArgumentParser = subparsers.add_parser(
        name, help=summary, description=description, allow_abbrev=False
    )
    if action is not None:
        parser.set_defaults(action=action, parser=parser)
    return parser


def integer(low: int, high: int | None = None) -> Callable[[str], int]:
    """The type of an option whose value is an integer between these."""
    wanted = f"a number from {low}" + (f" to {high}" if high is not None else "")

    def read(text: str) -> int:
        number = int(text) if text.isascii() and text.isdigit() else -1
        if number < low or (high is not None and number > high):
            raise argparse.ArgumentTypeError(f"{text!r} is not {wanted}")
        return number

    return read


def seconds(low: float, high: float) -> Callable[[str], float]:
    """The same of a number of seconds, which may have a fraction."""

    def read(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = nan
        if not low <= number <= high:
            raise argparse.ArgumentTypeError(
                f"{text!r} is not a number of seconds from {low:g} to {high:g}"
            )
        return number

    return read
