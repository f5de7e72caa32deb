"""The methods of `Workflow` and of its nodes, one for each command of the language.

Their parameters, types and docstrings are those of the tables that the parser reads by: of a
feature's command its row, of one of the core its class in `language.commands` and its line in
`language.keywords`.
"""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

from condor_pydagman.features.common import rows
from condor_pydagman.language.keywords import ROWS, CommandWord, manual
from condor_pydagman.language.syntax import Syntax, of_word
from condor_pydagman.vocabulary import ScriptKind

# They define nodes, or join them: `Workflow` and its nodes have better methods for that.
BY_HAND = {
    *("JOB", "FINAL", "PROVISIONER", "SERVICE", "DATA", "SUBDAG", "SPLICE", "SUBMIT_DESCRIPTION"),
    *("PARENT", "WEAK", "VARS"),
}
OF_RESCUE_FILES = "rescue file"  # in the summaries of commands that only DAGMan writes
# One class is the command of two words.
_SAID_BY_WORD = {"PIN_IN": {"out": "False"}, "PIN_OUT": {"out": "True"}}
_WIDTH = 100

_HEAD = '''\
"""The commands of the DAG language as methods; made by `python -m tools.generate`.

Names, types and texts are those of the tables by which DAG files are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeVar, Union

# Texts stand for nodes as well: their names.
Names = Union[str, Iterable[Any]]
Pairs = Union[Mapping[str, Any], Iterable[tuple[str, Any]]]
Self = TypeVar("Self", bound="Commands")


class Commands:
    """What has commands of the language as methods."""

    __slots__ = ()

    def _add(self: Self, word: str, **values: Any) -> Self:
        """Add a command.

        Args:
            word: its word, as in `language.keywords`.
            values: its fields; a node stands for its name, and for the value of several fields
                stands a `dict` of those of which one must be given.

        Raises:
            DagError: no line of a DAG file says this.
            TypeError: a value is of the wrong type.
        """
        raise NotImplementedError
'''
_CLASSES = {
    "NodeCommands": "The commands that are about a node, or about each of several.",
    "DagCommands": "The commands that are about the DAG, or about sets of its nodes.",
}


class Parameter(NamedTuple):
    """A parameter of a method.

    Attributes:
        name, type: as in its signature.
        default: '' if it must be given.
        keyword: whether it must be named.
    """

    name: str
    type: str
    default: str
    keyword: bool


def text() -> str:
    """The module."""
    methods: dict[str, list[str]] = {name: [] for name in _CLASSES}
    for about in manual():
        if about.word in BY_HAND or OF_RESCUE_FILES in about.summary:
            continue
        fields = _fields(about.word)
        methods["NodeCommands" if fields[:1] == ["node"] else "DagCommands"].append(_method(about))
    classes = (
        f'\n\nclass {name}(Commands):\n    """{summary}"""\n\n    __slots__ = ()\n'
        + "".join(methods[name])
        for name, summary in _CLASSES.items()
    )
    return _formatted(_HEAD + "".join(classes))


def _formatted(source: str) -> str:
    """The source as the formatter of this repository writes it."""
    argv = [sys.executable, "-m", "ruff", "format", "--stdin-filename", "methods.py", "-"]
    done = subprocess.run(argv, input=source, capture_output=True, text=True, check=True)
    return done.stdout


def _command(word: str) -> Any:
    return cast(Syntax, of_word(word)).command


def _fields(word: str) -> list[str]:
    """The fields of a command that its line can have, without the number of that."""
    if word in ROWS and ROWS[word].parts:
        return [field for part in ROWS[word].parts for field in part.fields]
    return [
        field for field in _command(word)._fields[1:] if field not in _SAID_BY_WORD.get(word, ())
    ]


def _method(about: CommandWord) -> str:
    name = about.word.lower()
    node = part_of(about.word, "node")
    fields = [field for field in _fields(about.word) if field not in ("node", *_fields_of(node))]
    parameters = [one for field in fields for one in _parameters(about.word, field)]
    needed = [one for one in parameters if not one.default and not one.keyword]
    others = [one for one in parameters if one.default or one.keyword]
    return (
        f"\n    def {name}(\n        {_signature(needed, others)}\n    ) -> Self:\n"
        f"{_docstring(about)}{_body(about.word, fields)}"
    )


def _signature(needed: list[Parameter], others: list[Parameter]) -> str:
    words = ["self: Self", *(f"{one.name}: {one.type}" for one in needed), *["*"] * bool(others)]
    words += [
        f"{one.name}: {one.type}" + (f" = {one.default}" if one.default else "") for one in others
    ]
    return ", ".join(words)


def _parameters(word: str, field: str) -> Iterator[Parameter]:
    command = _command(word)
    kind = _type(command.__annotations__[field])
    part = _part(word, field)
    if part is None:  # of the core, or a further field of a part of several
        default = repr(command._field_defaults[field]) if field in command._field_defaults else ""
        if isinstance(_variants(part_of(word, field)), rows.Variants):
            return
        yield Parameter(field, kind, default, kind == "bool")
        return
    variants = _variants(part)
    if variants is not None:
        yield from _of_variants(variants)
        return
    inner = part.part if isinstance(part, rows.Option) else part
    if isinstance(inner, rows.OneOf):
        kind = f"Literal[{', '.join(map(_quoted, inner.keywords))}]"
    needs = part.default is rows.NEEDED
    default = "" if needs else _default(part, inner)
    if isinstance(inner, rows.OneOf) and default == '""':
        alone = len(inner.keywords) == 1  # it is said or not
        kind, default = ("bool", "False") if alone else (kind.replace("[", '["", ', 1), default)
    yield Parameter(field, kind, default, False)


def _default(part: rows.Part, inner: rows.Part) -> str:
    default = part.default[0] if part.width > 1 else part.default
    return _quoted(default) if isinstance(default, str) else repr(default)


def part_of(word: str, field: str) -> rows.Part | None:
    """The part of a row that gives a field; None for a command of the core."""
    parts = ROWS[word].parts if word in ROWS else ()
    return next((one for one in parts if field in one.fields), None)


def _fields_of(part: rows.Part | None) -> tuple[str, ...]:
    return () if part is None else tuple(part.fields)


def _part(word: str, field: str) -> rows.Part | None:
    """The same if it is the first of the fields that the part gives."""
    part = part_of(word, field)
    return part if part is not None and part.fields[0] == field else None


def _variants(part: rows.Part | None) -> rows.Variants | None:
    return part if isinstance(part, rows.Variants) else None


def _of_variants(part: rows.Variants) -> Iterator[Parameter]:
    """One for each word that something follows, of which one is given; none if one needs none."""
    for key, inner in part.variants.items():
        if inner is not None:
            name, kind = _named(key, inner)
            yield Parameter(name, f"{kind} | None", "None", True)


def _named(key: str, inner: rows.Part) -> tuple[str, str]:
    """The name and the type of the parameter of a word of several."""
    if isinstance(inner, rows.Option):
        return inner.keywords[0].lower(), "str"
    if isinstance(inner, rows.Names):
        return key.lower(), "Names" if inner.most != 1 else "str"
    if isinstance(inner, (rows.Number, rows.Time)):
        return key.lower(), "int"
    return key.lower(), "Any" if inner.width > 1 or type(inner) is not rows.Part else "str"


def _type(annotation: str) -> str:
    kinds = {
        "ScriptKind": f"Literal[{', '.join(_quoted(kind.value) for kind in ScriptKind)}]",
        "tuple[tuple[str, str], ...]": "Pairs",
        "tuple[Dimension, ...]": "Iterable[Any]",
    }
    annotation = kinds.get(annotation, annotation)
    annotation = annotation.replace("tuple[str, ...]", "Names")
    return re.sub(r"tuple\[(\w+), \.\.\.\]", r"Iterable[\1]", annotation)


def _quoted(text: str) -> str:
    return f'"{text}"'


def _docstring(about: CommandWord) -> str:
    """What the manual says, the form of the line, and what the fields are."""
    own, _, fields = (_command(about.word).__doc__ or "").partition("Attributes:")
    more = own.partition(": ")[2].strip() if "`" in own else ""
    lines = [*_wrapped(about.summary, '"""'), "", *_wrapped(f"Its line: `{about.usage}`.")]
    if more:
        lines += ["", *_wrapped(more[0].upper() + more[1:])]
    lines += [line for text in _choices(about.word) for line in ("", *_wrapped(text))]
    told = [line for one in _entries(about.word, fields) for line in one]
    lines += ["", "        Args:", *told] if told else []
    return "\n".join([*lines, '        """', ""])


def _choices(word: str) -> Iterator[str]:
    """Which parameters exclude each other, and what none of them means."""
    for part in ROWS[word].parts if word in ROWS else ():
        if isinstance(part, rows.Variants):
            names = [f"`{one.name}`" for one in _of_variants(part)]
            alone = [
                key
                for key, inner in part.variants.items()
                if inner is None or isinstance(inner, rows.Option)
            ]
            yield f"Give one of {', '.join(names)}{f', or none: {alone[0]}' if alone else ''}."


def _entries(word: str, fields: str) -> Iterator[list[str]]:
    """What is said of those fields that are parameters."""
    shown = {field for field in _fields(word) if _variants(part_of(word, field)) is None}
    for entry in re.split(r"\n(?=\S)", textwrap.dedent(fields).strip()):
        if set(re.split(r", ?", entry.split(":")[0])) <= shown:
            yield _wrapped(" ".join(entry.split()), indent=" " * 12, hanging=" " * 4)


def _wrapped(text: str, begin: str = "", indent: str = " " * 8, hanging: str = "") -> list[str]:
    return textwrap.wrap(
        begin + " ".join(text.split()),
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _body(word: str, fields: list[str]) -> str:
    values = [
        *(_values(word, fields)),
        *(f"{k}={v}" for k, v in _SAID_BY_WORD.get(word, {}).items()),
    ]
    return f"        return self._add({', '.join([_quoted(word), *values])})\n"


def _values(word: str, fields: list[str]) -> Iterator[str]:
    for field in fields:
        part = part_of(word, field)
        variants = _variants(part)
        if variants is None:
            yield f"{field}={field}"
        elif part is not None and part.fields[0] == field:
            given = (
                f"{_quoted(key)}: {_named(key, inner)[0]}"
                for key, inner in variants.variants.items()
                if inner is not None
            )
            yield f"{field}={{{', '.join(given)}}}"
