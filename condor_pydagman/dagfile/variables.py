"""The key=value pairs of a VARS command.

Stock DAGMan's rules: blanks may surround the `=`; a value is one word, bare or quoted; a key may
not hold quotes, nor begin with `queue`; `+x` is short for `My.x`.
"""

from __future__ import annotations

import re

from condor_pydagman.dagfile.lexer import Words
from condor_pydagman.dagfile.wrong import Wrong

_PLACES = {"PREPEND": False, "APPEND": True}

# `key="value"` pairs without escapes, the form of nearly every VARS line that a program writes.
_SIMPLE_PAIR = '[ \t]+(?!(?i:queue))[A-Za-z_][A-Za-z0-9_]*="[^"\\\\]*"'
_SIMPLE = re.compile(f"([^ \t\r\"']+)((?:{_SIMPLE_PAIR})+)")
_SIMPLE_PAIRS = re.compile('([A-Za-z_][A-Za-z0-9_]*)="([^"\\\\]*)"')
SIMPLE_LENGTH = 4096  # longer lines take the ordinary way, which needs less memory


def read_pairs(words: Words) -> tuple[bool | None, list[tuple[str, str]]]:
    """PREPEND/APPEND (False/True, None if neither is said), and the pairs.

    Raises:
        Wrong: a pair is malformed, or there is none.
        QuotingError: a value's quote is not closed.
    """
    append = None
    pairs: list[tuple[str, str]] = []
    while words.peek():
        key = words.next_key()
        if not pairs and append is None and words.at_separator():
            append = _PLACES.get(key.upper())
            if append is not None:
                continue
        pairs.append(_pair(key, words))
    if not pairs:
        raise Wrong("No key=value pairs specified", words)
    return append, pairs


def read_simple(rest: str) -> tuple[str, tuple[tuple[str, str], ...]] | None:
    """Node and pairs of `rest`, what follows VARS, if it is of the simplest form; else None."""
    if len(rest) > SIMPLE_LENGTH:
        return None
    found = _SIMPLE.fullmatch(rest)
    if found is None:
        return None
    node, pairs = found.groups()
    return node, tuple(_SIMPLE_PAIRS.findall(pairs))


def _pair(key: str, words: Words) -> tuple[str, str]:
    if '"' in key or "'" in key:
        raise Wrong("Key contains quotation mark", words, hint="only the value may be quoted")
    if not key:
        raise Wrong("Key value pair missing key", words)
    return _checked_key(key, words), _value(key, words)


def _value(key: str, words: Words) -> str:
    follows = words.peek()
    if not follows:
        raise Wrong("Key value pair missing operator and value", words)
    if not words.take_equals():
        raise Wrong(
            "Key value pair missing value: Failed to locate operator",
            words,
            hint=f"expected = after {key[:40]}; a value with blanks must be quoted",
        )
    follows = words.peek()
    if not follows:
        raise Wrong("Key value pair missing value: No value specified", words)
    if follows == "=":
        raise Wrong(
            "Key value pair missing value: Double operator",
            words,
            hint="a value that begins with = must be quoted",
        )
    value = words.next()
    # Stock takes the first and the last character off, whether or not the last is the quote.
    return value[1:-1] if follows in "\"'" else value


def _checked_key(key: str, words: Words) -> str:
    if key[0] == "+":
        key = "My." + key[1:]
    if key == "My.":
        raise Wrong("Variable name must contain at least one alphanumeric character", words)
    if key[:5].lower() == "queue":
        raise Wrong(f"Illegal variable name '{key}': name can not begin with 'queue'", words)
    return key
