"""The command CACHE, and how its line is read and written.

A file that is called as a word of it is named with a path, `./INPUTS`.
"""

from __future__ import annotations

from condor_pydagman.dagfile.file_macros import checked_file
from condor_pydagman.dagfile.language import extension
from condor_pydagman.dagfile.lexer import LineError, Words, file_word, node_word
from condor_pydagman.dagfile.lines import Context, node_name, normal, unexpected
from condor_pydagman.dagfile.syntax import Syntax
from condor_pydagman.named_tuple import NamedTuple

CHECKSUM, INPUTS, OUTPUTS = WORDS = ("CHECKSUM", "INPUTS", "OUTPUTS")

_MISSPELT = {"INPUT": INPUTS, "OUTPUT": OUTPUTS, "CHECKSUMS": CHECKSUM}


class Cache(NamedTuple):
    """CACHE: the node is not run again while nothing of it has changed.

    Attributes:
        checksum: files are compared by what is in them, not by size and time.
        inputs, outputs: names of files, which may hold `$(JOB)` and names of VARS.
    """

    line: int
    node: str
    checksum: bool = False
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()


def read_cache(words: Words, context: Context) -> Cache:
    """CACHE."""
    node = node_name(words)
    checksum = False
    files: dict[str, list[str]] = {INPUTS: [], OUTPUTS: []}
    kind = ""
    while words.peek():
        word = words.next_file()
        if not word:  # quotes with nothing in them
            break
        said = normal(word)
        if said in files:
            _refuse_empty(kind, files, words)
            kind = said
        elif said == CHECKSUM:
            checksum = True
        elif kind:
            files[kind].append(checked_file(word, words))
            _tell_of_list(word, words)
        else:
            unexpected(word, words, *WORDS)
    _refuse_empty(kind, files, words)
    names = (tuple(dict.fromkeys(files[one])) for one in (INPUTS, OUTPUTS))
    return Cache(context.lines.number, node, checksum, *names)


def _tell_of_list(word: str, words: Words) -> None:
    """Names of files may hold commas and stars, but are hardly meant to."""
    if "," in word:
        words.remark(f"'{word}' is one file with a comma in its name: blanks stand between files")
    elif word.upper() in _MISSPELT:
        words.remark(f"'{word}' is taken for a file: the word is {_MISSPELT[word.upper()]}")
    elif "*" in word or "?" in word:
        words.remark(f"'{word}' is the name of one file: * and ? have no meaning there")


def _refuse_empty(kind: str, files: dict[str, list[str]], words: Words) -> None:
    if kind and not files[kind]:
        raise LineError(f"{kind} missing its files", words)


def write_cache(command: Cache) -> str:
    """CACHE."""
    words = ["CACHE", node_word(command.node)]
    if command.checksum:
        words.append(CHECKSUM)
    for kind, files in ((INPUTS, command.inputs), (OUTPUTS, command.outputs)):
        if files:
            words += [kind, *map(file_word, files)]
    return " ".join(words)


LANGUAGE = (
    extension(
        "CACHE <node> [CHECKSUM] [INPUTS <file> ...] [OUTPUTS <file> ...]",
        "The node is not run again if nothing of it has changed since it was last done.",
        after="NODE_RESULT",
    ),
)
SYNTAX = (Syntax("CACHE", Cache, read_cache, write_cache),)
