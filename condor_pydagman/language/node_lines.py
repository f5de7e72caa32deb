"""How stock's lines are read and written that make a DAG: nodes, edges, settings of it.

An inline submit description is part of a line that defines a node, or a description: `{` or
`@=TOKEN` opens it, a line that is `}` or `@TOKEN`, or begins with that and a blank, ends it;
options follow there (manual: "Inline Submit Descriptions").
"""

from __future__ import annotations

from condor_pydagman.language import commands
from condor_pydagman.language.commands import Command
from condor_pydagman.language.hints import nearest
from condor_pydagman.language.lexer import (
    LineError,
    QuotingError,
    Words,
    file_word,
    joined,
    name_word,
)
from condor_pydagman.language.lines import (
    Context,
    checked_number,
    end,
    integer,
    needed,
    needed_file,
    new_node_name,
    node_name,
    normal,
    number,
    unexpected,
)
from condor_pydagman.vocabulary import NodeKind

_NO_DIRECTORY = "No directory path provided for DIR subcommand"
_NO_SUBMIT = "No submit description provided"


def read_job(
    words: Words,
    context: Context,
    kind: NodeKind = NodeKind.JOB,
    needs: str = "a submit file, as in: JOB {} file.sub",
) -> Command:
    """JOB, FINAL, PROVISIONER or SERVICE; `needs` is what a hint says without a file, with a place
    for the node's name."""
    line = context.lines.number
    name = new_node_name(words, context)
    submit = needed_file(words, _NO_SUBMIT, f"a node needs {needs.format(name[:40])}")
    description = None
    if _opens_description(submit):
        description, words = _description(submit, words, context)
    return commands.Job(line, name, submit, *_options(words), description, kind)


def write_job(job: commands.Job) -> str:
    """JOB and what is like it."""
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
    file = needed_file(words, _NO_SUBMIT, "a sub-DAG needs its DAG file")
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


def _options(words: Words) -> tuple[str, bool, bool]:
    """DIR, NOOP and DONE."""
    directory, noop, done = "", False, False
    while True:
        word = words.next()
        option = normal(word)
        if not word:
            return directory, noop, done
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


# How the lines are read and written that join nodes: PARENT, WEAK PARENT, PIN_IN and PIN_OUT.

MAX_SEARCHED_NAMES = 50  # names among which a misspelled CHILD is looked for


def read_parent(words: Words, context: Context, weak: bool = False) -> Command:
    """PARENT ... CHILD ...; a second CHILD among the children means nothing, except at the end."""
    plain = _plain_parent(words, context, weak)
    if plain is not None:
        return plain
    begin = words.position
    parents: list[str] = []
    while True:
        word = words.next()
        if word.upper() == "CHILD":
            break
        if not word:
            raise _no_child(words, begin, parents)
        parents.append(word)
    if not parents:
        raise LineError("No parent node(s) specified", words)
    children: list[str] = []
    last = word
    while word:
        last, word = word, words.next()
        if word and word.upper() != "CHILD":
            children.append(word)
    if last.upper() == "CHILD":
        raise LineError("No children node(s) specified", words)
    return commands.ParentChild(context.lines.number, tuple(parents), tuple(children), weak)


def _plain_parent(words: Words, context: Context, weak: bool) -> Command | None:
    """The command of a good line without quotes, which may name very many nodes; else None."""
    names = words.all_plain()
    if names is None or "CHILD" not in names:
        return None
    middle = names.index("CHILD")
    parents, children = tuple(names[:middle]), tuple(names[middle + 1 :])
    if not parents or not children or "CHILD" in map(str.upper, parents + children):
        return None
    return commands.ParentChild(context.lines.number, parents, children, weak)


def _no_child(words: Words, begin: int, parents: list[str]) -> LineError:
    if not parents:
        return LineError("No parent node(s) specified", words)
    message = "Missing CHILD specifier"
    again = Words(words.line, begin)
    for _ in parents[:MAX_SEARCHED_NAMES]:
        word = again.next()
        if word.isalpha() and nearest(word, ("CHILD",)):
            return LineError(message, words, ("CHILD",), column=again.column)
    hint = "the nodes that wait for these follow a CHILD: PARENT p1 p2 CHILD c1 c2"
    return LineError(message, words, hint=hint)


def read_weak(words: Words, context: Context) -> Command:
    """WEAK PARENT ... CHILD ..."""
    missing = "WEAK dependency missing PARENT keyword"
    if normal(needed(words, missing, ("PARENT",))) != "PARENT":
        raise LineError(missing, words, ("PARENT",))
    return read_parent(words, context, weak=True)


def write_parent(command: commands.ParentChild) -> str:
    """[WEAK] PARENT ... CHILD ..."""
    sides = command.parents, command.children
    parents, children = (" ".join(map(name_word, side)) for side in sides)
    return joined("WEAK" * command.weak, f"PARENT {parents} CHILD {children}")


def read_pin(words: Words, context: Context, out: bool) -> Command:
    """PIN_IN or PIN_OUT."""
    node = node_name(words)
    pin = number(words, "No pin number specified", "Invalid pin number '{}'", 1)
    end(words)
    return commands.Pin(context.lines.number, node, pin, out)


def write_pin(command: commands.Pin) -> str:
    """PIN_IN or PIN_OUT."""
    return f"PIN_{'OUT' if command.out else 'IN'} {name_word(command.node)} {command.number}"


# How the lines are read and written that concern the whole DAG: DOT, NODE_STATUS_FILE, ENV.

_DOT_WORDS = ("UPDATE", "DONT-UPDATE", "OVERWRITE", "DONT-OVERWRITE", "INCLUDE")


def read_node_status_file(words: Words, context: Context) -> Command:
    """NODE_STATUS_FILE; its options may come in any order, the last of a kind counts."""
    file = needed_file(words, "No file specified")
    interval, always = 60, False
    while True:
        word = words.next()
        if not word:
            return commands.NodeStatusFile(context.lines.number, file, interval, always)
        if normal(word) == "ALWAYS_UPDATE":
            always = True
        elif integer(word) is not None:
            interval = checked_number(word, words, "")
        else:
            unexpected(word, words, "ALWAYS-UPDATE", "a number of seconds")


def write_node_status_file(command: commands.NodeStatusFile) -> str:
    """NODE_STATUS_FILE."""
    always = "ALWAYS-UPDATE" * command.always
    return joined(f"NODE_STATUS_FILE {file_word(command.file)} {command.interval}", always)


def read_dot(words: Words, context: Context) -> Command:
    """DOT; its options may come in any order, the last of a kind counts."""
    file = needed_file(words, "No file specified")
    update, overwrite, include = False, False, ""
    while True:
        word = words.next()
        option = normal(word)
        if not word:
            return commands.Dot(context.lines.number, file, update, overwrite, include)
        if option in ("UPDATE", "DONT_UPDATE"):
            update = option == "UPDATE"
        elif option in ("OVERWRITE", "DONT_OVERWRITE"):
            overwrite = option == "OVERWRITE"
        elif option == "INCLUDE":
            include = needed_file(words, "Missing INCLUDE header file")
        else:
            unexpected(word, words, *_DOT_WORDS)


def write_dot(command: commands.Dot) -> str:
    """DOT."""
    include = f"INCLUDE {file_word(command.include)}" if command.include else ""
    options = ("UPDATE" * command.update, "OVERWRITE" * command.overwrite, include)
    return joined(f"DOT {file_word(command.file)}", *options)


def read_env(words: Words, context: Context) -> Command:
    """ENV."""
    actions = ("SET", "GET")
    action = needed(words, "Missing action (SET or GET) and variables", actions)
    if normal(action) not in actions:
        unexpected(action, words, *actions)
    variables = words.rest()
    if not variables:
        raise LineError("No environment variables provided", words)
    return commands.Env(context.lines.number, normal(action) == "SET", variables)


def write_env(command: commands.Env) -> str:
    """ENV."""
    return f"ENV {'SET' if command.set else 'GET'} {command.variables}"
