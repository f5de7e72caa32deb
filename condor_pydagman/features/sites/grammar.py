"""The commands that bind nodes to sites, and how their lines are read and written: SITE_GROUP,
SITE_POLICY, and SITE_MATCHED of rescue files.

They are ours.  ClassAd expressions are kept as they stand.  What is wrong in them for sure is told
with its place; the rest is HTCondor's own parser's, see `adapters.evaluation`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from condor_pydagman.dagfile.expression_text import MAX_EXPRESSION, first_mistake
from condor_pydagman.dagfile.language import extension
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
from condor_pydagman.dagfile.syntax import Syntax, fixed, name, whole_number
from condor_pydagman.named_tuple import NamedTuple

ALL_GROUPS = "ALL_GROUPS"
NODES, SPLICE, ALL_NODES = _KINDS = ("NODES", "SPLICE", "ALL_NODES")
OLD_SITE_WORDS = ("LAST", "NEVER")
CLEAN_UP_S = 600  # that a clean-up node may take unless its line says otherwise

_ATTRIBUTE = re.compile(r"([A-Za-z_][A-Za-z_0-9]{0,99})[ \t]*=(?!=)[ \t]*(.+)")


class SiteGroupLine(NamedTuple):
    """SITE_GROUP: nodes that run at one site.

    `members` is NODES, SPLICE or ALL_NODES; `names` are of the nodes, or of the splice.
    """

    line: int
    name: str
    members: str
    names: tuple[str, ...] = ()


class SitePolicyLine(NamedTuple):
    """SITE_POLICY: `key` as in `POLICY_KEYS`, which says what `value` is."""

    line: int
    group: str
    key: str
    value: str | int | tuple[str, str] | tuple[str, int]


class SiteMatched(NamedTuple):
    """SITE_MATCHED: the site at which a group's work has begun, the `round`th that it is at."""

    line: int
    group: str
    site: str
    round: int


class _Key(NamedTuple):
    """A key of SITE_POLICY: how its value is read, and written."""

    read: Callable[[Words, str], Any]
    write: Callable[[Any], str] = str


def read_site_group(words: Words, context: Context) -> SiteGroupLine:
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
    return SiteGroupLine(context.lines.number, name, members, names)


def _names(words: Words) -> tuple[str, ...]:
    names = [needed(words, "The group has no nodes")]
    while True:
        name = words.next()
        if not name:
            return tuple(names)
        names.append(name)


def write_site_group(command: SiteGroupLine) -> str:
    """SITE_GROUP."""
    return " ".join(
        ["SITE_GROUP", *map(name_word, (command.name, command.members, *command.names))]
    )


def read_site_policy(words: Words, context: Context) -> SitePolicyLine:
    """SITE_POLICY."""
    group = needed(words, "Missing name of the group")
    word = needed(words, "Missing what is to be said of the group", tuple(POLICY_KEYS))
    key = normal(word)
    if key not in POLICY_KEYS:
        unexpected(word, words, *POLICY_KEYS)
    value = POLICY_KEYS[key].read(words, key)
    end(words)
    return SitePolicyLine(context.lines.number, group, key, value)


def write_site_policy(command: SitePolicyLine) -> str:
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


LANGUAGE = (
    extension(
        "SITE_GROUP <name> (NODES <node1> [<node2> ...]|SPLICE <splice>|ALL_NODES)",
        "Nodes that run at one site, which is chosen when the first of them is ready.",
        after="MAXJOBS",
    ),
    extension(
        "SITE_POLICY <group> <key> <value>",
        "How the site of a group is chosen, and when the group has to leave it.",
        after="SITE_GROUP",
    ),
    extension(
        "SITE_MATCHED <group> <site> <round>",
        "The site of a group whose work has begun there, as in a rescue file.",
        after="SITE_POLICY",
    ),
)
SYNTAX = (
    Syntax("SITE_GROUP", SiteGroupLine, read_site_group, write_site_group),
    Syntax("SITE_POLICY", SitePolicyLine, read_site_policy, write_site_policy),
    fixed(
        "SITE_MATCHED",
        SiteMatched,
        name("Missing name of the group"),
        name("Missing name of the site"),
        whole_number("Missing number of the round", "Invalid number of the round '{}'", 1),
    ),
)
