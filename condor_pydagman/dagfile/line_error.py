"""What is wrong with a command's line, before it is known in which file and where that line is."""

from __future__ import annotations

from condor_pydagman.dagfile.lexer import Words


class LineError(ValueError):
    """A word of `words` is not what the command needs there.

    Attributes:
        message: stock DAGMan's, word for word.
        line: the line.
        column: of the wrong word, from 0; of the word read last unless said otherwise.
        expected: the words of the language that could have stood there.
        hint: what else a person should know.
        usage: the example that is shown, '' for that of the command.
    """

    def __init__(
        self,
        message: str,
        words: Words,
        expected: tuple[str, ...] = (),
        hint: str = "",
        column: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.line = words.line
        self.column = words.column if column is None else column
        self.expected = expected
        self.hint = hint
        self.usage = ""
