"""How the lines are read that join nodes: PARENT, WEAK PARENT, CONNECT, PIN_IN and PIN_OUT."""

from __future__ import annotations

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.commands import Command
from condor_pydagman.dagfile.hints import nearest
from condor_pydagman.dagfile.lexer import Words
from condor_pydagman.dagfile.line_parts import Context, end, needed, node_name, normal, number
from condor_pydagman.dagfile.wrong import Wrong

LOOKED_AT = 50  # names among which a misspelled CHILD is looked for


def read_parent(words: Words, context: Context, weak: bool = False) -> Command:
    """PARENT ... CHILD ...; a second CHILD among the children means nothing, except at the end."""
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
        raise Wrong("No parent node(s) specified", words)
    children: list[str] = []
    last = word
    while word:
        last, word = word, words.next()
        if word and word.upper() != "CHILD":
            children.append(word)
    if last.upper() == "CHILD":
        raise Wrong("No children node(s) specified", words)
    return commands.ParentChild(context.lines.number, tuple(parents), tuple(children), weak)


def _no_child(words: Words, begin: int, parents: list[str]) -> Wrong:
    if not parents:
        return Wrong("No parent node(s) specified", words)
    message = "Missing CHILD specifier"
    again = Words(words.line, begin)
    for _ in parents[:LOOKED_AT]:
        word = again.next()
        if word.isalpha() and nearest(word, ("CHILD",)):
            return Wrong(message, words, ("CHILD",), column=again.column)
    hint = "the nodes that wait for these follow a CHILD: PARENT p1 p2 CHILD c1 c2"
    return Wrong(message, words, hint=hint)


def read_weak(words: Words, context: Context) -> Command:
    """WEAK PARENT ... CHILD ..."""
    missing = "WEAK dependency missing PARENT keyword"
    if normal(needed(words, missing, ("PARENT",))) != "PARENT":
        raise Wrong(missing, words, ("PARENT",))
    return read_parent(words, context, weak=True)


def read_connect(words: Words, context: Context) -> Command:
    """CONNECT."""
    missing = "Missing splice(s) to connect"
    parent, child = needed(words, missing), needed(words, missing)
    end(words)
    return commands.Connect(context.lines.number, parent, child)


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
