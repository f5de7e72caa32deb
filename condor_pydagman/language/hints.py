"""Hints on common mistakes, added to stock DAGMan's message about a wrong line.

A hint is one sentence; '' if there is nothing useful to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from condor_pydagman.feature_table import ABSENT
from condor_pydagman.language.description import QUEUES
from condor_pydagman.language.lexer import LineError, QuotingError
from condor_pydagman.language.lines import normal

MAX_SEARCHED = 200  # characters of a word or of the rest of a line that are looked at
MIN_SIMILARITY = 0.62  # similarity, of 1, that two swapped letters in a word of three still have
CR_ONLY = "the lines seem to end in CR only: save the file with LF at the ends of its lines"
BYTE_ORDER_MARK = "the file begins with a byte order mark: save it as UTF-8 without one"
NOT_INSTALLED = "which is not installed"
_NEVER_CLOSED = 'the quote that opens here is never closed; a quote inside of a quoted value is \\"'

# What word processors and web pages put in the place of plain characters.
_PLAIN = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\uff0d", "-"),
    **dict.fromkeys("\u00a0\u1680\u202f\u205f\u3000", " "),
    **dict.fromkeys(map(chr, range(0x2000, 0x200B)), " "),
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", ""),
    "\uff1d": "=",
    "\uff03": "#",
    "\uff05": "%",
}
_ODD = re.compile("[" + "".join(map(re.escape, _PLAIN)) + "]")
_TO_PLAIN = str.maketrans(_PLAIN)

# Words that other workflow systems, and people, have for commands of the DAG language.
_ALIASES = {
    "NODE": "JOB",
    "TASK": "JOB",
    "STEP": "JOB",
    "EDGE": "PARENT",
    "DEPENDS": "PARENT",
    "DEPENDENCY": "PARENT",
    "AFTER": "PARENT",
    "PRE": "SCRIPT PRE",
    "POST": "SCRIPT POST",
    "HOLD": "SCRIPT HOLD",
    "EXTERNAL": "SUBDAG EXTERNAL",
    "ABORT": "ABORT_DAG_ON",
    "SKIP": "PRE_SKIP",
    "IMPORT": "INCLUDE",
    "VARIABLE": "VARS",
    "VARIABLES": "VARS",
    "MACRO": "VARS",
}
# Words that the language had once, or has with a feature, and what is to be done.
_LACKING = {
    "LET_GO": "nodes that were added stay for as long as the DAG runs (docs/growth.md, 'Memory');"
    " a rescue file with this line needs the version of condor_pydagman that has written it",
    **{word: f"it is of the feature {name}, {NOT_INSTALLED}" for word, name in ABSENT.items()},
}
_QUEUE_OR_PROGRAM = re.compile(
    rf"(?:{QUEUES}(?!\s*=)|(?:executable|universe|arguments|shell)\s*=)", re.IGNORECASE
)
# What other programs read, by the first line that tells.
_OTHER_FILES = {
    "a graph for Graphviz": r"(strict\s+)?(di)?graph\b",
    "a workflow of jobsub": r"</?(serial|parallel)>|jobsub\b",
    "a Snakefile": r"(rule|checkpoint)\s+\w+\s*:|configfile:",
    "a program of Nextflow": r"(process|workflow)\s+\w*\s*\{|nextflow\.",
    "a Python program": r"(import|from)\s+[\w.]+(\s+import\b|\s*$)",
    "YAML": r"---$|[\w-]+:(\s|$)",
}
_SUBMIT_COMMAND = re.compile(rf"(?:[+.\w]+\s*=|{QUEUES})", re.IGNORECASE)


def nearest(word: str, valid: Iterable[str]) -> str:
    """The word of `valid` that was probably meant by `word`; '' if none is near."""
    forms = {normal(one): one for one in valid}
    plain = normal(word[:40].translate(_TO_PLAIN).strip(" \"'"))
    if plain in forms:
        return forms[plain]
    import difflib  # imported late: most DAG files are right

    near = difflib.get_close_matches(plain, forms, 1, MIN_SIMILARITY)
    return forms[near[0]] if near else ""


def of_wrong(wrong: LineError | QuotingError) -> str:
    """The hint for a line of a known command."""
    if "\r" in wrong.line[:MAX_SEARCHED]:
        return CR_ONLY
    rest = wrong.line[wrong.column : wrong.column + MAX_SEARCHED]
    word = rest.split(" ", 1)[0].split("\t", 1)[0]
    if isinstance(wrong, QuotingError):
        return odd_character(wrong.line[:MAX_SEARCHED]) or _NEVER_CLOSED
    if word.startswith(("#", "//")):
        return "a comment must be on a line of its own"
    meant = nearest(word, wrong.expected) if word else ""
    odd = odd_character(word) or odd_character(wrong.line[:MAX_SEARCHED])
    if odd and not (meant and normal(word) == normal(meant)):
        return f"{odd}; did you mean {meant}?" if meant else odd
    if meant:
        return f"did you mean {meant}?"
    if wrong.hint or not wrong.expected:
        return wrong.hint
    *others, last = wrong.expected
    return "expected " + " or ".join(filter(None, (", ".join(others), last)))


def of_unknown(word: str, line: str, valid: Iterable[str], number: int) -> str:
    """The hint for a line, of this number, that begins with no command word."""
    if word.startswith("\ufeff"):
        return BYTE_ORDER_MARK if number == 1 else odd_character(word)
    if word.startswith("\xff\xfe") or word.startswith("\udcff\udcfe"):
        return "the file seems to be UTF-16: save it as UTF-8"
    if normal(word) in _LACKING:
        return _LACKING[normal(word)]
    odd = odd_character(word)
    plain = line[:MAX_SEARCHED].translate(_TO_PLAIN).split()
    meant = _ALIASES.get(normal(word[:40])) or nearest(plain[0] if plain else "", valid)
    if odd:
        return f"{odd}; did you mean {meant}?" if meant else odd
    if normal(word[:40]) == "CHILD":
        return "CHILD stands in the line of its PARENT; a \\ at that line's end continues it"
    if meant and "=" not in word:
        return f"did you mean {meant}?"
    if word in ("{", "}") or word.startswith("@"):
        return "no inline submit description is open here"
    if _SUBMIT_COMMAND.match(line[:MAX_SEARCHED]):
        return "this is a line of a submit description: is the file a DAG file?"
    return ""


def of_other_file(file: str, lines: Sequence[str]) -> str:
    """The hint for a file that is no DAG file, by its lines that are no commands; or ''."""
    if sum(_QUEUE_OR_PROGRAM.match(line.lstrip()) is not None for line in lines) > 1:
        return (
            f"{file} is a submit description, no DAG file: a DAG file names it, as in"
            f" 'JOB <name> {file}'; condor_submit submits it by itself"
        )
    for kind, pattern in _OTHER_FILES.items():
        if len(lines) > 1 and re.match(pattern, lines[0].lstrip()):
            return f"{file} is {kind}, no DAG file: its lines would be 'JOB <name> <file>'"
    return ""


def odd_character(text: str) -> str:
    """What is odd about the first character of `text` that a word processor has put there."""
    found = _ODD.search(text)
    if found is None:
        return ""
    import unicodedata  # imported late: most DAG files are right

    character = found.group()
    name = unicodedata.name(character, "character").lower()
    plain = {" ": "a blank", "": "", '"': '"'}.get(_PLAIN[character], _PLAIN[character])
    what = f"use {plain}" if plain else "delete it"
    return f"U+{ord(character):04X} ({name}) means nothing in the DAG language: {what}"
