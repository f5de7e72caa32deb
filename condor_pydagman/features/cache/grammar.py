"""The command CACHE.

A file that is called as a word of its line is named with a path, `./INPUTS`.
"""

from __future__ import annotations

from condor_pydagman.dagfile import rows
from condor_pydagman.dagfile.file_macros import checked_file
from condor_pydagman.dagfile.lexer import Words
from condor_pydagman.named_tuple import NamedTuple

_MISSPELT = {"INPUT": "INPUTS", "OUTPUT": "OUTPUTS", "CHECKSUMS": "CHECKSUM"}


def _file(word: str, words: Words) -> str:
    """Names of files may hold commas and stars, but are hardly meant to."""
    checked_file(word, words)
    if "," in word:
        words.remark(f"'{word}' is one file with a comma in its name: blanks stand between files")
    elif word.upper() in _MISSPELT:
        words.remark(f"'{word}' is taken for a file: the word is {_MISSPELT[word.upper()]}")
    elif "*" in word or "?" in word:
        words.remark(f"'{word}' is the name of one file: * and ? have no meaning there")
    return word


_FILES = rows.files("files", "<file> ...", _file)


@rows.Row(
    "CACHE",
    "The node is not run again if nothing of it has changed since it was last done.",
    after="NODE_RESULT",
)
class Cache(NamedTuple):
    """CACHE: the node is not run again while nothing of it has changed.

    Attributes:
        checksum: files are compared by what is in them, not by size and time.
        inputs, outputs: names of files, relative to the node's directory, which may hold `$(JOB)`
            and names of VARS.
        named: of a Dag: a line names the node, or a sweep that it is of, not only ALL_NODES.
    """

    line: int
    node: str = rows.node()
    checksum: bool = rows.flag("CHECKSUM", again=True)
    inputs: tuple[str, ...] = rows.option("INPUTS", _FILES, (), rows.ADDED_UP)
    outputs: tuple[str, ...] = rows.option("OUTPUTS", _FILES, (), rows.ADDED_UP)
    named: bool = False
