"""How the lines are read and written that join nodes: PARENT, WEAK PARENT, PIN_IN and PIN_OUT."""

from __future__ import annotations

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.commands import Command
from condor_pydagman.dagfile.hints import nearest
from condor_pydagman.dagfile.lexer import Words
from condor_pydagman.dagfile.line_error import LineError
from condor_pydagman.dagfile.line_parts import Context, end, needed, node_name, normal, number
from condor_pydagman.dagfile.quoting import joined, name_word

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


def read_pin_in(words: Words, context: Context) -> Command:
    """PIN_IN."""
    return _pin(words, context, out=False)


def read_pin_out(words: Words, context: Context) -> Command:
    """PIN_OUT."""
    return _pin(words, context, out=True)


def _pin(words: Words, context: Context, out: bool) -> Command:
    node = node_name(words)
    pin = number(words, "No pin number specified", "Invalid pin number '{}'", 1)
    end(words)
    return commands.Pin(context.lines.number, node, pin, out)


def write_pin(command: commands.Pin) -> str:
    """PIN_IN or PIN_OUT."""
    return f"PIN_{'OUT' if command.out else 'IN'} {name_word(command.node)} {command.number}"
