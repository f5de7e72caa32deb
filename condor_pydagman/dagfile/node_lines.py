"""How lines that define nodes are read and written: JOB and its like, SUBDAG, SPLICE, ...

An inline submit description is part of such a line: `{` or `@=TOKEN` opens it, a line that is `}`
or `@TOKEN`, or begins with that and a blank, ends it; options follow there (manual: "Inline Submit
Descriptions").
"""

from __future__ import annotations

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.commands import Command
from condor_pydagman.dagfile.lexer import QuotingError, Words
from condor_pydagman.dagfile.line_error import LineError
from condor_pydagman.dagfile.line_parts import (
    Context,
    end,
    needed,
    needed_file,
    new_node_name,
    normal,
    unexpected,
)
from condor_pydagman.dagfile.quoting import file_word, joined, name_word
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import NodeKind

_NO_DIRECTORY = "No directory path provided for DIR subcommand"
_NO_SUBMIT = "No submit description provided"


class _Options(NamedTuple):
    directory: str
    noop: bool
    done: bool


def read_job(words: Words, context: Context, kind: NodeKind = NodeKind.JOB) -> Command:
    """JOB, FINAL, PROVISIONER or SERVICE."""
    line = context.lines.number
    name = new_node_name(words, context)
    hint = f"a node needs a submit file, as in: JOB {name[:40]} file.sub"
    if kind == NodeKind.DATA:
        hint = f"a node needs a request file, as in: DATA {name[:40]} file.dap"
    submit = _submit(words, hint)
    description = None
    if _opens_description(submit):
        description, words = _description(submit, words, context)
    return commands.Job(line, name, submit, *_options(words), description, kind)


def read_final(words: Words, context: Context) -> Command:
    """FINAL."""
    return read_job(words, context, NodeKind.FINAL)


def read_provisioner(words: Words, context: Context) -> Command:
    """PROVISIONER."""
    return read_job(words, context, NodeKind.PROVISIONER)


def read_service(words: Words, context: Context) -> Command:
    """SERVICE."""
    return read_job(words, context, NodeKind.SERVICE)


def read_data(words: Words, context: Context) -> Command:
    """DATA, as stock DAGMan knew it until its version 8; ours may have an inline request."""
    return read_job(words, context, NodeKind.DATA)


def write_job(job: commands.Job) -> str:
    """JOB, FINAL, PROVISIONER, SERVICE or DATA."""
    word = NodeKind(job.kind).name
    text = f"{word} {name_word(job.name)} {file_word(job.submit)}"
    if job.description is not None:
        closing = "}" if job.submit[:1] == "{" else "@" + job.submit[2:]
        text = _inline(text, job.description, closing)
    return joined(text, _written_options(job))


def read_subdag(words: Words, context: Context) -> Command:
    """SUBDAG EXTERNAL.  Its file can't be an inline description."""
    missing = "Missing EXTERNAL keyword"
    if normal(needed(words, missing, ("EXTERNAL",))) != "EXTERNAL":
        raise LineError(missing, words, ("EXTERNAL",))
    name = new_node_name(words, context)
    file = _submit(words, "a sub-DAG needs its DAG file")
    return commands.Subdag(context.lines.number, name, file, *_options(words))


def write_subdag(command: commands.Subdag) -> str:
    """SUBDAG EXTERNAL."""
    begin = f"SUBDAG EXTERNAL {name_word(command.name)} {file_word(command.file)}"
    return joined(begin, _written_options(command))


def read_splice(words: Words, context: Context) -> Command:
    """SPLICE."""
    name = needed(words, "Missing splice name")
    file = needed_file(words, "Missing DAG file")
    directory = ""
    word = words.next()
    if normal(word) == "DIR":
        directory = needed_file(words, _NO_DIRECTORY)
        end(words)
    else:
        unexpected(word, words, "DIR")
    return commands.Splice(context.lines.number, name, file, directory)


def write_splice(command: commands.Splice) -> str:
    """SPLICE."""
    directory = f"DIR {file_word(command.directory)}" if command.directory else ""
    return joined(f"SPLICE {name_word(command.name)} {file_word(command.file)}", directory)


def read_submit_description(words: Words, context: Context) -> Command:
    """SUBMIT-DESCRIPTION."""
    line = context.lines.number
    name = needed(words, "No submit description name provided")
    opening = words.next_file()
    if not _opens_description(opening):
        hint = "expected { or @=TOKEN, which opens a description that } or @TOKEN ends"
        raise LineError("No inline description provided", words, hint=hint)
    description, _ = _description(opening, words, context)
    return commands.SubmitDescription(line, name, description)


def write_submit_description(command: commands.SubmitDescription) -> str:
    """SUBMIT-DESCRIPTION."""
    begin = f"SUBMIT-DESCRIPTION {name_word(command.name)} "
    closings = {line.split(" ", 1)[0] for line in command.description.split("\n")}
    if "}" not in closings:
        return _inline(begin + "{", command.description, "}")
    number = next(n for n in range(len(closings) + 1) if f"@END{n}" not in closings)
    return _inline(f"{begin}@=END{number}", command.description, f"@END{number}")


def skip_description(words: Words, context: Context) -> None:
    """Read over the inline description that the line of a node or a SUBMIT-DESCRIPTION may open.

    Raises:
        LineError: it does not end.
    """
    try:
        words.next()
        opening = words.next_file()
    except QuotingError:
        return
    if _opens_description(opening):
        _description(opening, words, context)


def _submit(words: Words, hint: str) -> str:
    submit = words.next_file()
    if not submit:
        raise LineError(_NO_SUBMIT, words, hint=hint)
    return submit


def _options(words: Words) -> _Options:
    directory, noop, done = "", False, False
    while True:
        word = words.next()
        option = normal(word)
        if not word:
            return _Options(directory, noop, done)
        if option == "DIR":
            directory = needed_file(words, _NO_DIRECTORY)
        elif option == "NOOP":
            noop = True
        elif option == "DONE":
            done = True
        else:
            unexpected(word, words, "DIR", "NOOP", "DONE")


def _written_options(command: commands.Job | commands.Subdag) -> str:
    directory = f"DIR {file_word(command.directory)}" if command.directory else ""
    return joined(directory, "NOOP" * command.noop, "DONE" * command.done)


def _opens_description(word: str) -> bool:
    return word.startswith(("{", "@="))


def _description(opening: str, words: Words, context: Context) -> tuple[str, Words]:
    """Text of an inline description, and the words that follow its end."""
    closing = "}" if opening[0] == "{" else "@" + opening[2:]
    if closing == "@":
        raise LineError("No inline description closing token specified (@=TOKEN)", words)
    found = context.lines.description(closing)
    if found is None:
        raise LineError(
            f"Missing inline description closing token: {closing}",
            words,
            hint=f"a line of its own must end the description: {closing[:40]}, which a blank and "
            "options may follow",
        )
    text, closing_line = found
    ignored = opening[1:] if closing == "}" else ""
    ignored = f"{ignored} {words.rest()}".strip()
    if ignored:
        words.remark(f"'{ignored[:40]}', what follows {opening[:40]} on its line, is ignored")
    return text, Words(closing_line, len(closing))


def _inline(opening: str, description: str, closing: str) -> str:
    return "\n".join([opening, *([description] if description else []), closing])
