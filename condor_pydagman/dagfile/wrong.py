"""What is wrong with a command's line, before it is known in which file and where that line is."""

from __future__ import annotations

from condor_pydagman.dagfile.lexer import Words


class Wrong(ValueError):
    """The word that `words` gave last is not what the command needs there."""

    def __init__(self, message: str, words: Words) -> None:
        super().__init__(message)
        self.message = message
        self.line = words.line
        self.column = words.column
