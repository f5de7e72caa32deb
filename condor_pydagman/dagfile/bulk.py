"""Lines of the simplest form, many at a time.

Nearly every line that a program writes is `JOB name file`, `VARS name key="value" ...` or
`PARENT name CHILD name ...`.  A regular expression takes a whole run of them apart in a third of a
microsecond a line; everything else goes the ordinary way, one line after the other (`parser`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from condor_pydagman.dagfile.commands import Command, ParentChild, Vars

SHORTEST = 16  # lines; shorter runs are not worth the trouble

# No quotes, backslashes, braces or '@' (inline descriptions), no '+' (splices).
_NAME = r"[\w.:/,%$()-]+"
_NEW_NAME = rf"(?!(?i:PARENT|CHILD|ALL[-_]NODES)[ \t]){_NAME}"
_FILE = r"[\w.:/,%$()=-]+(?<!\.condor\.sub)"
_BLANK = "[ \t]+"
_END = "[ \t\r]*\n"
_KEY = "[A-PR-Za-pr-z_][A-Za-z0-9_]*"  # no 'queue'
_JOB = f"JOB{_BLANK}({_NEW_NAME}){_BLANK}({_FILE}){_END}"
_VARS = f'VARS{_BLANK}({_NAME}){_BLANK}((?:{_KEY}="[ !#-\\[\\]-~]*"[ \t]*)+){_END}'
_NAMES = rf"{_NAME}(?:[ \t]+[\w.:/,%$()\- \t\r]*)?"
_PARENT = rf"PARENT{_BLANK}((?!(?i:CHILD)[ \t]){_NAME}){_BLANK}CHILD{_BLANK}({_NAMES})\n"
_EACH = {
    word[0]: (word, re.compile("^" + line, re.MULTILINE))
    for word, line in (("JOB", _JOB), ("VARS", _VARS), ("PARENT", _PARENT))
}
_ANY = f"^(?:{_JOB}|{_VARS}|{_PARENT})"
_LINE = re.compile(_ANY, re.MULTILINE)
_ODD = re.compile(f"^(?!{_ANY})", re.MULTILINE)
_KEY_VALUE = re.compile(f'({_KEY})="([^"]*)"')

Rows = Sequence[tuple[str, str]]


class Run(NamedTuple):
    """Simple lines that follow each other.

    Attributes:
        end: where the run ends in its block.
        lines: how many there are.
        jobs: names and submit files of JOB lines.
        job_lines: the number of each of these lines, the run's first being 0.
        variables: nodes and `key="value"` texts of VARS lines.
        parents: parents and children, with blanks between them, of PARENT lines.
        mixed: if there are several kinds, the six groups of each line.
    """

    end: int
    lines: int
    jobs: Rows = ()
    job_lines: Sequence[int] = ()
    variables: Rows = ()
    parents: Rows = ()
    mixed: Sequence[tuple[str, ...]] = ()


def take(block: str, begin: int) -> Run:
    """The simple lines of `block` from `begin` on, where a line begins."""
    return _all_of_one_kind(block, begin) or _mixed(block, begin)


def uses(run: Run, line: int) -> Iterator[Command]:
    """The VARS and PARENT commands of a run, one by one; the run's first line has number `line`."""
    if run.mixed:
        for number, (_, _, node, pairs, parent, children) in enumerate(run.mixed, line):
            if node:
                yield _vars(number, node, pairs)
            elif parent:
                yield _parent(number, parent, children)
    for number, (node, pairs) in enumerate(() if run.mixed else run.variables, line):
        yield _vars(number, node, pairs)
    for number, (parent, children) in enumerate(() if run.mixed else run.parents, line):
        yield _parent(number, parent, children)


def text(command: Command) -> str:
    """About the line of a command that `uses` gave, for a message."""
    if isinstance(command, Vars):
        return " ".join(["VARS", command.node, *(f'{key}="{value}"' for key, value in command[3])])
    if isinstance(command, ParentChild):
        return " ".join(["PARENT", *command.parents, "CHILD", *command.children])
    return ""


def simple_pairs(text: str) -> list[tuple[str, str]]:
    """Keys and values of a text of `Run.variables`."""
    return _KEY_VALUE.findall(text)


def _vars(line: int, node: str, pairs: str) -> Command:
    return Vars(line, node, None, tuple(simple_pairs(pairs)))


def _parent(line: int, parent: str, children: str) -> Command:
    names = tuple(name for name in children.split() if name.upper() != "CHILD")
    return ParentChild(line, (parent,), names)


def _all_of_one_kind(block: str, begin: int) -> Run | None:
    word, pattern = _EACH.get(block[begin], ("", _LINE))
    end = block.rfind("\n") + 1
    last_line = block.rfind("\n", begin, end - 1) + 1
    if not word or not block.startswith(word, last_line):
        return None
    rows = pattern.findall(block, begin, end)
    if len(rows) != block.count("\n", begin, end):
        return None
    if word == "JOB":
        return Run(end, len(rows), jobs=rows, job_lines=range(len(rows)))
    if word == "VARS":
        return Run(end, len(rows), variables=rows)
    return Run(end, len(rows), parents=rows)


def _mixed(block: str, begin: int) -> Run:
    odd = _ODD.search(block, begin)
    end = odd.start() if odd else block.rfind("\n") + 1
    rows = _LINE.findall(block, begin, end)
    return Run(
        end,
        len(rows),
        jobs=[(name, submit) for name, submit, _, _, _, _ in rows if name],
        job_lines=[place for place, row in enumerate(rows) if row[0]],
        variables=[(node, pairs) for _, _, node, pairs, _, _ in rows if node],
        parents=[(parent, children) for _, _, _, _, parent, children in rows if parent],
        mixed=rows,
    )
