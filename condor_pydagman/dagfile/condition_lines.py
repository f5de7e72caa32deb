"""How the lines are read and written by which a DAG decides: RUN_IF, PUBLISH, and the SKIPPED and
NODE_RESULT lines of rescue files.

All are ours.  ClassAd expressions are kept as they stand; what is wrong in them for sure is told
with its place, the rest is HTCondor's own parser's (`adapters.condition_evaluation`).
"""

from __future__ import annotations

import re

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.commands import Command
from condor_pydagman.dagfile.expression_text import first_mistake
from condor_pydagman.dagfile.file_macros import checked_file
from condor_pydagman.dagfile.lexer import LineError, Words, file_word, node_word
from condor_pydagman.dagfile.lines import (
    Context,
    end,
    needed,
    needed_file,
    node_name,
    normal,
    unexpected,
)

ELSE = "ELSE"
SKIP, DONE = OTHERWISE = ("SKIP", "DONE")
FILE, ATTRIBUTES = _SOURCES = ("FILE", "ATTRIBUTES")
MAX_EXPRESSION = 4000  # characters
# What every parent has; nothing with such a name can be published.
# What the ClassAd language takes for something else than a name.
CLASSAD_WORDS = ("true", "false", "undefined", "error", "is", "isnt", "parent")
OWN_ATTRIBUTES = ("Outcome", "ExitCode", "Signal", "Retries")

_ELSE = re.compile(rf"{ELSE}(?=[ \t]|$)", re.IGNORECASE)
_OF_EXPRESSION = re.compile(r"(?:Parents|Category)\.", re.IGNORECASE)
# Words and quotes of a line that can't be where they are, and what to do.
_MISPLACED = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), hint)
    for pattern, hint in (
        (r"^(IF|WHEN)[ \t]+[\w'\"(!]", "the expression follows the node: leave {} out"),
        (r"^(SKIP|DONE)[ \t]+(?!is\b|isnt\b)[\w'\"(]", "ELSE is missing before {}"),
        (rf"^{ELSE}=(SKIP|DONE)", f"a blank stands behind {ELSE}: {ELSE} {{}}"),
        (rf"[ \t)]({ELSE}[ \t]+(?:SKIP|DONE))$", "{} stands before the expression"),
        (r'^"(?:[^"\\]|\\.)*"$', "a text is neither true nor false: take the quotes away"),
    )
)
_ATTRIBUTE = re.compile(r"[A-Za-z_][A-Za-z_0-9]{0,99}", re.ASCII)


def read_run_if(words: Words, context: Context) -> Command:
    """RUN_IF."""
    node = node_name(words)
    if _OF_EXPRESSION.match(node):
        hint = "the node comes first: RUN_IF <node> [ELSE SKIP|DONE] <ClassAd expression>"
        raise LineError(f"'{node}' can't be the node's name", words, hint=hint)
    otherwise = SKIP
    if words.peek() and _ELSE.match(words.line, words.column):
        words.next()
        word = needed(words, f"{ELSE} missing SKIP or DONE", OTHERWISE)
        otherwise = normal(word)
        if otherwise not in OTHERWISE:
            unexpected(word, words, *OTHERWISE)
    words.peek()
    column, text = words.column, words.rest().strip()
    for pattern, hint in _MISPLACED:
        found = pattern.search(text)
        if found:
            hint = hint.format(*found.groups())
            where = column + found.start()
            raise LineError(f"Invalid RUN_IF expression '{text}'", words, hint=hint, column=where)
    _checked(words, "RUN_IF", text)
    return commands.RunIf(context.lines.number, node, text, otherwise)


def write_run_if(command: commands.RunIf) -> str:
    """RUN_IF."""
    otherwise = "" if command.otherwise == SKIP else f"{ELSE} {command.otherwise} "
    return f"RUN_IF {node_word(command.node)} {otherwise}{command.expression}"


def _checked(words: Words, what: str, text: str) -> str:
    """`text`, which is at the end of the line, if nothing in it is wrong for sure."""
    begin = len(words.line.rstrip()) - len(text)
    if not text:
        raise LineError(f"{what} missing its ClassAd expression", words)
    if len(text) > MAX_EXPRESSION:
        hint = f"an expression has {MAX_EXPRESSION} characters at most"
        raise LineError(f"The expression has {len(text)} characters", words, hint=hint)
    found = first_mistake(text)
    if found is not None:
        at, why = found
        raise LineError(f"Invalid {what} expression '{text}'", words, hint=why, column=begin + at)
    return text


def read_publish(words: Words, context: Context) -> Command:
    """PUBLISH."""
    node = node_name(words)
    word = needed(words, "Missing where the values come from", _SOURCES)
    source = normal(word)
    if source == FILE:
        file = checked_file(needed_file(words, "Missing name of the file"), words)
        end(words)
        return commands.Publish(context.lines.number, node, file)
    if source != ATTRIBUTES:
        unexpected(word, words, *_SOURCES)
    return commands.Publish(context.lines.number, node, "", _attributes(words))


def _attributes(words: Words) -> tuple[str, ...]:
    words.peek()
    begin, text = words.column, words.rest().strip()
    if not text:
        raise LineError("Missing names of attributes", words)
    names = []
    for found in re.finditer(r"[^,]+", text):
        name = found[0].strip()
        if not _ATTRIBUTE.fullmatch(name):
            hint = "expected names of attributes of the job, with commas between them"
            at = begin + found.start() + len(found[0]) - len(found[0].lstrip())
            raise LineError(f"Invalid name of an attribute '{name}'", words, hint=hint, column=at)
        at = begin + found.start()
        if name.lower() in CLASSAD_WORDS:
            hint = "it is a word of the ClassAd language, and no job has such an attribute"
            raise LineError(f"{name} can't be published", words, hint=hint, column=at)
        refuse_own(name, words, at)
        names.append(name)
    return tuple(dict.fromkeys(names))


def refuse_own(name: str, words: Words, column: int) -> None:
    """Refuse a name that every parent has anyway."""
    if name.lower() in (own.lower() for own in OWN_ATTRIBUTES):
        hint = f"every parent has {', '.join(OWN_ATTRIBUTES)} anyway"
        raise LineError(f"{name} can't be published", words, hint=hint, column=column)


def write_publish(command: commands.Publish) -> str:
    """PUBLISH."""
    node = node_word(command.node)
    if command.file:
        return f"PUBLISH {node} {FILE} {file_word(command.file)}"
    return f"PUBLISH {node} {ATTRIBUTES} {','.join(command.attributes)}"


def read_node_result(words: Words, context: Context) -> Command:
    """NODE_RESULT."""
    node = node_name(words)
    text = words.rest().strip()
    if not (text.startswith("[") and text.endswith("]")):
        hint = "expected [ name = value; ... ], as DAGMan writes it into rescue files"
        raise LineError("NODE_RESULT missing its ClassAd", words, hint=hint)
    _checked(words, "NODE_RESULT", text)
    return commands.NodeResult(context.lines.number, node, text)


def write_node_result(command: commands.NodeResult) -> str:
    """NODE_RESULT."""
    return f"NODE_RESULT {node_word(command.node)} {command.text}"
