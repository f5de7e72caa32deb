"""How the lines are read and written that bind nodes to sites: SITE_GROUP and SITE_POLICY.

Both are ours.  ClassAd expressions are kept as they stand.  What is wrong in them for sure is told
with its place; the rest is HTCondor's own parser's, see `features.sites.adapters.evaluation`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.commands import Command
from condor_pydagman.dagfile.expression_text import MAX_EXPRESSION, first_mistake
from condor_pydagman.dagfile.lexer import LineError, Words, name_word
from condor_pydagman.dagfile.lines import (
    Context,
    end,
    needed,
    normal,
    number_alone,
    unexpected,
)
from condor_pydagman.dagfile.modifier_lines import read_time
from condor_pydagman.named_tuple import NamedTuple

ALL_GROUPS = "ALL_GROUPS"
NODES, SPLICE, ALL_NODES = _KINDS = ("NODES", "SPLICE", "ALL_NODES")
OLD_SITE_WORDS = ("LAST", "NEVER")
CLEAN_UP_S = 600  # that a clean-up node may take unless its line says otherwise

_ATTRIBUTE = re.compile(r"([A-Za-z_][A-Za-z_0-9]{0,99})[ \t]*=(?!=)[ \t]*(.+)")


class _Key(NamedTuple):
    """A key of SITE_POLICY: how its value is read, and written."""

    read: Callable[[Words, str], Any]
    write: Callable[[Any], str] = str


def read_site_group(words: Words, context: Context) -> Command:
    """SITE_GROUP."""
    name = needed(words, "Missing name of the group")
    if name.upper() == ALL_GROUPS or "+" in name:
        hint = f"{ALL_GROUPS} stands for all groups, and + belongs to splices"
        raise LineError(f"'{name}' can't be the name of a group", words, hint=hint)
    word = needed(words, "Missing what is in the group", _KINDS)
    members = normal(word)
    names: tuple[str, ...] = ()
    if members == NODES:
        names = _names(words)
    elif members == SPLICE:
        names = (needed(words, "Missing name of the splice"),)
        end(words)
    elif members == ALL_NODES:
        end(words)
    else:
        unexpected(word, words, *_KINDS)
    return commands.SiteGroupLine(context.lines.number, name, members, names)


def _names(words: Words) -> tuple[str, ...]:
    names = [needed(words, "The group has no nodes")]
    while True:
        name = words.next()
        if not name:
            return tuple(names)
        names.append(name)


def write_site_group(command: commands.SiteGroupLine) -> str:
    """SITE_GROUP."""
    return " ".join(
        ["SITE_GROUP", *map(name_word, (command.name, command.members, *command.names))]
    )


def read_site_policy(words: Words, context: Context) -> Command:
    """SITE_POLICY."""
    group = needed(words, "Missing name of the group")
    word = needed(words, "Missing what is to be said of the group", tuple(POLICY_KEYS))
    key = normal(word)
    if key not in POLICY_KEYS:
        unexpected(word, words, *POLICY_KEYS)
    value = POLICY_KEYS[key].read(words, key)
    end(words)
    return commands.SitePolicyLine(context.lines.number, group, key, value)


def write_site_policy(command: commands.SitePolicyLine) -> str:
    """SITE_POLICY."""
    value = POLICY_KEYS[command.key].write(command.value)
    return f"SITE_POLICY {name_word(command.group)} {command.key} {value}"


def _expression(words: Words, key: str) -> str:
    text = words.rest().strip()
    if not text:
        raise LineError(f"{key} missing its ClassAd expression", words)
    return text


def _checked(words: Words, key: str) -> str:
    text = _expression(words, key)
    _refuse_mistake(words, key, text)
    return text


def _refuse_mistake(words: Words, key: str, text: str) -> None:
    """`text` is at the end of the line."""
    if len(text) > MAX_EXPRESSION:
        hint = f"an expression has {MAX_EXPRESSION:,} characters at most"
        raise LineError(f"The {key} expression has {len(text):,} characters", words, hint=hint)
    found = first_mistake(text)
    if found is not None:
        at, why = found
        begin = len(words.line.rstrip()) - len(text)
        message = f"Invalid {key} expression '{text}'"
        raise LineError(message, words, hint=why, column=begin + at)


def _attribute(words: Words, key: str) -> tuple[str, str]:
    text = _expression(words, key)
    found = _ATTRIBUTE.fullmatch(text)
    if found is None:
        hint = "expected the name of an attribute, = and a ClassAd expression"
        raise LineError(f"Invalid {key} '{text}'", words, hint=hint)
    _refuse_mistake(words, key, found[2])
    return found[1], found[2]


def _clean_up(words: Words, key: str) -> tuple[str, int]:
    node = needed(words, f"{key} missing its node")
    return (node, read_time(words, key) if words.peek() else CLEAN_UP_S)


def _count(words: Words, key: str) -> int:
    return number_alone(words, f"{key} missing its number", f"Invalid {key} number '{{}}'", 1)


def _old_site(words: Words, key: str) -> str:
    word = needed(words, f"{key} missing LAST or NEVER", OLD_SITE_WORDS)
    if normal(word) not in OLD_SITE_WORDS:
        unexpected(word, words, *OLD_SITE_WORDS)
    return normal(word)


POLICY_KEYS: dict[str, _Key] = {
    "REQUIREMENTS": _Key(_checked),
    "RANK": _Key(_checked),
    "ATTRIBUTE": _Key(_attribute, " = ".join),
    "WAIT": _Key(read_time),
    "IDLE": _Key(read_time),
    "HELD": _Key(read_time),
    "GONE": _Key(read_time),
    "FAILURES": _Key(_count),
    "REMATCH_IF": _Key(_checked),
    "ROUNDS": _Key(_count),
    "CLEAN_UP": _Key(_clean_up, lambda value: f"{name_word(value[0])} {value[1]}"),
    "REMOVAL": _Key(read_time),
    "OLD_SITE": _Key(_old_site),
}
