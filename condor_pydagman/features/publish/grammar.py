"""The commands PUBLISH, and NODE_RESULT of rescue files; how their lines are read and written."""

from __future__ import annotations

import re

from condor_pydagman.dagfile.expression_text import checked_expression
from condor_pydagman.dagfile.file_macros import checked_file
from condor_pydagman.dagfile.language import extension
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
from condor_pydagman.dagfile.syntax import Syntax
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import CLASSAD_WORDS, PARENT_ATTRIBUTES

FILE, ATTRIBUTES = _SOURCES = ("FILE", "ATTRIBUTES")
_ATTRIBUTE = re.compile(r"[A-Za-z_][A-Za-z_0-9]{0,99}", re.ASCII)


class Publish(NamedTuple):
    """PUBLISH: values of the node that conditions can name, of a file or attributes of its job."""

    line: int
    node: str
    file: str = ""
    attributes: tuple[str, ...] = ()


class NodeResult(NamedTuple):
    """NODE_RESULT: what conditions can ask of a node that is done; `text` is a ClassAd."""

    line: int
    node: str
    text: str


def read_publish(words: Words, context: Context) -> Publish:
    """PUBLISH."""
    node = node_name(words)
    word = needed(words, "Missing where the values come from", _SOURCES)
    source = normal(word)
    if source == FILE:
        file = checked_file(needed_file(words, "Missing name of the file"), words)
        end(words)
        return Publish(context.lines.number, node, file)
    if source != ATTRIBUTES:
        unexpected(word, words, *_SOURCES)
    return Publish(context.lines.number, node, "", _attributes(words))


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
    if name.lower() in (own.lower() for own in PARENT_ATTRIBUTES):
        hint = f"every parent has {', '.join(PARENT_ATTRIBUTES)} anyway"
        raise LineError(f"{name} can't be published", words, hint=hint, column=column)


def write_publish(command: Publish) -> str:
    """PUBLISH."""
    node = node_word(command.node)
    if command.file:
        return f"PUBLISH {node} {FILE} {file_word(command.file)}"
    return f"PUBLISH {node} {ATTRIBUTES} {','.join(command.attributes)}"


def read_node_result(words: Words, context: Context) -> NodeResult:
    """NODE_RESULT."""
    node = node_name(words)
    text = words.rest().strip()
    if not (text.startswith("[") and text.endswith("]")):
        hint = "expected [ name = value; ... ], as DAGMan writes it into rescue files"
        raise LineError("NODE_RESULT missing its ClassAd", words, hint=hint)
    checked_expression(words, "NODE_RESULT", text)
    return NodeResult(context.lines.number, node, text)


def write_node_result(command: NodeResult) -> str:
    """NODE_RESULT."""
    return f"NODE_RESULT {node_word(command.node)} {command.text}"


LANGUAGE = (
    extension(
        "PUBLISH <node> (FILE <file>|ATTRIBUTES <name>[,<name>...])",
        "Values of the node that the RUN_IF of its children can name.",
        after="RUN_IF",
    ),
    extension(
        "NODE_RESULT <node> <ClassAd>",
        "What the RUN_IF of other nodes can ask of a node that is done, as in a rescue file.",
        after="SKIPPED",
    ),
)
SYNTAX = (
    Syntax("PUBLISH", Publish, read_publish, write_publish),
    Syntax("NODE_RESULT", NodeResult, read_node_result, write_node_result),
)
