"""The words of a script line with its macros put in (manual: "Special script argument macros").

A macro is a whole word, in any case; `x$RETRY` is none.  Stock DAGMan has no quoting here: the line
is split on blanks and tabs, and no shell ever sees it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from condor_pydagman.vocabulary import ScriptKind

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


def expand(command: str, values: Mapping[str, str], kind: ScriptKind, node: str) -> tuple[str, ...]:
    """Split a script line and put in `values` (by upper-case macro name without `$`).

    Raises:
        MacroError: unknown macro, or one that has no meaning in a PRE script.
    """
    return tuple(_word(word, values, kind, node) for word in re.split(r"[ \t]+", command) if word)


def _word(word: str, values: Mapping[str, str], kind: ScriptKind, node: str) -> str:
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
