"""The commands PUBLISH, and NODE_RESULT of rescue files."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from condor_pydagman.dagfile import rows
from condor_pydagman.dagfile.expression_text import MAX_OF_LINE, Expression
from condor_pydagman.dagfile.file_macros import checked_file
from condor_pydagman.dagfile.lexer import LineError, Words
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import CLASSAD_WORDS, PARENT_ATTRIBUTES

_ATTRIBUTE = re.compile(r"[A-Za-z_][A-Za-z_0-9]{0,99}", re.ASCII)


class _Attributes(rows.Part):
    """Names of attributes of a job, with commas between them."""

    empty = ()

    def read(self, words: Words, key: str = "", also: Collection[str] = ()) -> Any:
        words.peek()
        begin, text = words.column, super().read(words, key)
        names = []
        for found in re.finditer(r"[^,]+", text):
            name = found[0].strip()
            if not _ATTRIBUTE.fullmatch(name):
                hint = "expected names of attributes of the job, with commas between them"
                at = begin + found.start() + len(found[0]) - len(found[0].lstrip())
                message = f"Invalid name of an attribute '{name}'"
                raise LineError(message, words, hint=hint, column=at)
            _refuse_reserved(name, words, begin + found.start())
            names.append(name)
        return tuple(dict.fromkeys(names))

    def write(self, value: tuple[str, ...]) -> str:
        return ",".join(value)


def _refuse_reserved(name: str, words: Words, column: int) -> None:
    """Refuse a name that no job has, or that every parent has anyway."""
    hint = ""
    if name.lower() in CLASSAD_WORDS:
        hint = "it is a word of the ClassAd language, and no job has such an attribute"
    elif name.lower() in (own.lower() for own in PARENT_ATTRIBUTES):
        hint = f"every parent has {', '.join(PARENT_ATTRIBUTES)} anyway"
    if hint:
        raise LineError(f"{name} can't be published", words, hint=hint, column=column)


class _Ad(Expression):
    """A ClassAd."""

    sample = "[ x = 1 ]"

    def checked(self, text: str, words: Words, what: str) -> str:
        if not (text.startswith("[") and text.endswith("]")):
            hint = "expected [ name = value; ... ], as DAGMan writes it into rescue files"
            raise LineError(f"{what} missing its ClassAd", words, hint=hint)
        return super().checked(text, words, what)


_attributes: Any = _Attributes
_ad: Any = _Ad
_FILE = rows.file("name", "<file>", checked_file, sample="values.ad")


@rows.Row(
    "PUBLISH",
    "Values of the node that the RUN_IF of its children can name.",
    after="RUN_IF",
    options="one",
)
class Publish(NamedTuple):
    """PUBLISH: values of the node that conditions can name, of a file or attributes of its job.

    A Dag can have both of a node.
    """

    line: int
    node: str = rows.node()
    file: str = rows.option("FILE", _FILE, "")
    attributes: tuple[str, ...] = rows.option(
        "ATTRIBUTES", _attributes("names", "<name>[,<name>...]", take=rows.text_to_the_end), ()
    )


@rows.Row(
    "NODE_RESULT",
    "What the RUN_IF of other nodes can ask of a node that is done, as in a rescue file.",
    after="SKIPPED",
    in_rescue=True,
)
class NodeResult(NamedTuple):
    """NODE_RESULT: what conditions can ask of a node that is done; `text` is a ClassAd."""

    line: int
    node: str = rows.node()
    text: str = _ad("NODE_RESULT", MAX_OF_LINE, "<ClassAd>")
