"""The key=value pairs of a VARS command.

Stock DAGMan's rules: blanks may surround the `=`; a value is one word, bare or quoted; a key may
not hold quotes, nor begin with `queue`; `+x` is short for `My.x`.
"""

from __future__ import annotations

from condor_pydagman.dagfile.lexer import Words
from condor_pydagman.dagfile.line_error import LineError

_PLACES = {"PREPEND": False, "APPEND": True}


def read_pairs(words: Words) -> tuple[bool | None, list[tuple[str, str]]]:
    """PREPEND/APPEND (False/True, None if neither is said), and the pairs.

    Raises:
        LineError: a pair is malformed, or there is none.
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
        raise LineError("No key=value pairs specified", words)
    return append, pairs


def _pair(key: str, words: Words) -> tuple[str, str]:
    if '"' in key or "'" in key:
        raise LineError("Key contains quotation mark", words, hint="only the value may be quoted")
    if not key:
        raise LineError("Key value pair missing key", words)
    return _checked_key(key, words), _value(key, words)


def _value(key: str, words: Words) -> str:
    follows = words.peek()
    if not follows:
        raise LineError("Key value pair missing operator and value", words)
    if not words.take_equals():
        raise LineError(
            "Key value pair missing value: Failed to locate operator",
            words,
            hint=f"expected = after {key[:40]}; a value with blanks must be quoted",
        )
    follows = words.peek()
    if not follows:
        raise LineError("Key value pair missing value: No value specified", words)
    if follows == "=":
        raise LineError(
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
        raise LineError("Variable name must contain at least one alphanumeric character", words)
    if key[:5].lower() == "queue":
        raise LineError(f"Illegal variable name '{key}': name can not begin with 'queue'", words)
    return key
