"""Commands of features by chance, from their rows (`condor_pydagman.features.common.rows`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from condor_pydagman.features.common import rows
from condor_pydagman.language.commands import Command
from condor_pydagman.language.lexer import Words, name_word, node_word

# Words that can stand in a line as they are, and words that need care.
TEXT = st.text(alphabet="abZ9.{}@=+#/%\u00e9\u00a0\udcff\"' \\\t", min_size=1, max_size=8)
LINE = st.one_of(st.just(""), TEXT)
NUMBER = st.integers(-(2**31), 2**31 - 1)
FLAG = st.booleans()


def word(text: str) -> str | None:
    """The name that the lexer takes from a text, in which quotes are in pairs; None if none."""
    try:
        return Words(text).next()
    except ValueError:
        return None


NAME: st.SearchStrategy[Any] = TEXT.map(word).filter(bool)


def commands_of(row: rows.Row) -> st.SearchStrategy[Command]:
    """Commands with any content that their types allow, most of which can be written."""
    values = st.tuples(*(_values(one) for one in row.parts))

    def made(found: tuple[Any, ...]) -> Command:
        fields: dict[str, Any] = {}
        for one, value in zip(row.parts, found):
            fields.update(one.given(value))
        command: Command = row.command(1, **fields)
        return command

    return values.map(made)


def _values(part: rows.Part) -> st.SearchStrategy[Any]:
    if isinstance(part, rows.Flag):
        return st.sampled_from([*part.means.values(), part.default])
    if isinstance(part, rows.Option):
        values = _values(part.part)
        return values if part.default is rows.NEEDED else st.just(part.default) | values
    if isinstance(part, rows.OneOf):
        return st.sampled_from(part.keywords)
    if isinstance(part, rows.Variants):
        return st.one_of([_variant(part, key) for key in part.keywords])
    if type(part) is rows.Part:
        values = NAME if part.put in (name_word, node_word) else LINE
        return values if part.check is _UNCHECKED else st.just(part.sample) | values
    return _STRATEGIES.get(type(part), _sample)(part)


def _variant(part: rows.Variants, key: str) -> st.SearchStrategy[Any]:
    inner = part.variants[key]
    return st.tuples(st.just(key), st.just(part.empty) if inner is None else _values(inner))


def _sample(part: rows.Part) -> st.SearchStrategy[Any]:
    """Of a part that no other is like: the value of its sample."""
    return st.builds(lambda: part.read(Words(part.sample)))


_UNCHECKED = rows.Part().check
_WHOLE = st.integers(0, 100) | NUMBER
_STRATEGIES: dict[type, Callable[[rows.Part], st.SearchStrategy[Any]]] = {
    rows.Number: lambda part: _WHOLE,
    rows.Time: lambda part: _WHOLE,
    rows.Share: lambda part: st.tuples(_WHOLE, FLAG),
    rows.Names: lambda part: st.lists(NAME, max_size=3).map(tuple),
    rows.Files: lambda part: st.lists(LINE, max_size=3).map(tuple),
}
