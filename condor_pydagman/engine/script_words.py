"""Text of scripts: the words of a script line with its macros put in, and how an end is told.

Manual: "Special script argument macros".

A macro is a whole word, in any case; `x$RETRY` is none.  Stock DAGMan has no quoting here: the line
is split on blanks and tabs, and no shell ever sees it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Protocol

from condor_pydagman.vocabulary import (
    RETURN_JOB_ABORTED,
    RETURN_PRE_FAILED,
    RETURN_SUBMIT_FAILED,
    ScriptKind,
    signal_name,
)

NOT_IN_PRE = frozenset(
    (
        "JOBID",
        "CLUSTERID",
        "JOB_COUNT",
        "SUCCESS",
        "RETURN",
        "EXIT_CODES",
        "EXIT_CODE_COUNTS",
        "EXIT_CODE_LIST",
        "PRE_SCRIPT_RETURN",
        "JOB_ABORT_COUNT",
    )
)


class MacroError(Exception):
    """A word that starts with `$` and can't be put in; `str()` is stock's warning."""


class Values(Protocol):
    """Values of macros, by their names."""

    def __getitem__(self, name: str, /) -> str:
        """Raises KeyError: there is no such macro."""


def expand(command: str, values: Values, kind: ScriptKind, node: str) -> tuple[str, ...]:
    """Split a script line and put in `values` (by upper-case macro name without `$`).

    Raises:
        MacroError: unknown macro, or one that has no meaning in a PRE script.
    """
    return tuple(_word(word, values, kind, node) for word in re.split(r"[ \t]+", command) if word)


def _word(word: str, values: Values, kind: ScriptKind, node: str) -> str:
    if not word.startswith("$"):
        return word
    name = word[1:].upper()
    if kind is ScriptKind.PRE and name in NOT_IN_PRE:
        raise MacroError(
            f"Warning: ${name} macro should not be used as a PRE script argument!"
            f" (node {node}; put it into the POST script)"
        )
    try:
        return values[name]
    except KeyError:
        raise MacroError(
            f"Warning: unrecognized macro {word} in node {node} {kind.value} script arguments"
        ) from None


EXIT_CODE_MACROS = ("EXIT_CODES", "EXIT_CODE_COUNTS", "EXIT_CODE_LIST", "JOB_ABORT_COUNT")


def exit_code_macros(codes: Mapping[int, int | None]) -> dict[str, str]:
    """$EXIT_CODES, $EXIT_CODE_COUNTS, $EXIT_CODE_LIST and $JOB_ABORT_COUNT of ended procs.

    `codes` maps proc id to exit code; a signal (negative) counts as -1, an aborted proc is None.
    """
    in_order = [codes[proc] for proc in sorted(codes)]
    plain = [-1 if code < 0 else code for code in in_order if code is not None]
    counts = {code: plain.count(code) for code in sorted(set(plain))}
    listed = ("" if code is None else str(-1 if code < 0 else code) for code in in_order)
    return {
        "EXIT_CODES": ",".join(map(str, counts)),
        "EXIT_CODE_COUNTS": ",".join(f"{code}:{count}" for code, count in counts.items()),
        "EXIT_CODE_LIST": ",".join(listed) if plain else "",
        "JOB_ABORT_COUNT": str(in_order.count(None)),
    }


# How the end of a script is told.


def script_ended(kind: ScriptKind, name: str, status: int) -> str:
    """The line that tells that a PRE or POST script of node `name` ended with `status`."""
    if status == 0:
        return f"{kind.value} Script of node {name} completed successfully."
    if status < 0:
        signal = signal_name(status) if kind is ScriptKind.PRE else f"signal {-status}"
        return f"{kind.value} Script of node {name} died on {signal}"
    word = "Node" if kind is ScriptKind.PRE else "node"  # stock's spelling, which readers match
    return f"{kind.value} Script of {word} {name} failed with status {status}"


def before_post(value: int, pre_value: int) -> str:
    """What had come before the POST script, by the return value so far."""
    if value == RETURN_PRE_FAILED:
        if not pre_value:
            return "PRE Script or submission failed"
        return f"PRE Script {how_it_failed(pre_value)}"
    if value == RETURN_SUBMIT_FAILED:
        return "Job submit failed"
    if value == RETURN_JOB_ABORTED:
        return "Job was removed"
    if value < RETURN_SUBMIT_FAILED:
        return f"Job failed due to DAGMAN error {value}"
    if value < 0:
        return f"Job died on signal {-value}"
    # LSST bps takes the words in brackets, stock's, for the sign that the job itself has succeeded.
    return f"Job exited with status {value}" if value else "Job succeeded (DAGMAN error 0)"


def how_it_failed(status: int) -> str:
    """How a script failed, by its exit status; negative for a signal."""
    return f"failed with status {status}" if status >= 0 else f"died on signal {-status}"
