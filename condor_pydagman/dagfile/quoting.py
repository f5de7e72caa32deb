"""How names, files and values are written in a line so that the lexer reads them as they are."""

from __future__ import annotations

ITEM_DOLLAR = "$(DAGMAN_DOLLAR)"
_BLANKS = " \t\r"
_QUOTES = "\"'"


def name_word(name: str) -> str:
    """The word that the lexer reads as `name`, of which it keeps the quotes.

    What stands between quotes gets its backslashes back.  A quote that was escaped is inside, one
    that was not opens or closes; several readings may be possible, and one of them that fits the
    whole word is taken.

    Raises:
        ValueError: a quote in `name` is not closed.
    """
    closes = _closing_quotes(name)
    written: list[str] = []
    position = 0
    while position < len(name):
        character = name[position]
        position += 1
        written.append(character)
        if character in _QUOTES:
            end = closes.get(position - 1)
            if end is None:
                raise ValueError(f"a quote of {name!r} is not closed")
            inside = name[position:end].replace("\\", "\\\\").replace(character, "\\" + character)
            written += (inside, character)
            position = end + 1
    return "".join(written)


def node_word(name: str) -> str:
    """A node's name as the word that is read as that name; as it is if no word can say it."""
    if '"' not in name and "'" not in name:
        return name
    try:
        return name_word(name)
    except ValueError:
        return name


def file_word(name: str) -> str:
    """The word that the lexer reads as the file `name`, of which it drops the quotes."""
    if name and not any(c in name for c in " \t\r\v\f\"'\\"):
        return name
    return quoted(name)


def quoted(text: str) -> str:
    """`text` in double quotes."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def item_text(text: str) -> str:
    """`text` as the value of a variable in which no macro counts, since somebody else has written
    it: whoever uses the value puts a dollar for ITEM_DOLLAR, as the language of that use has it."""
    return text.replace("$", ITEM_DOLLAR)


def joined(*words: str) -> str:
    """The words that are not empty, with blanks between them."""
    return " ".join(word for word in words if word)


def _closing_quotes(name: str) -> dict[int, int]:
    """For each quote that can open a quoted part, where that part may end so that the rest fits."""
    fits = True  # whether what follows the position can be read by itself
    ends: dict[str, int] = {}
    closes: dict[int, int] = {}
    for position in range(len(name) - 1, -1, -1):
        character = name[position]
        if character not in _QUOTES:
            fits = fits and character not in _BLANKS
            continue
        rest_fits = fits
        fits = character in ends
        if fits:
            closes[position] = ends[character]
        if rest_fits:
            ends[character] = position
    return closes
