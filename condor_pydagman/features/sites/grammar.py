"""The commands that bind nodes to sites: SITE_GROUP, SITE_POLICY, and SITE_MATCHED of rescue files.

ClassAd expressions are kept as they stand.  What is wrong in them for sure is told with its place;
the rest is HTCondor's own parser's, see `adapters.evaluation`.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from condor_pydagman.dagfile import rows
from condor_pydagman.dagfile.expression_text import Expression
from condor_pydagman.dagfile.lexer import LineError, Words, name_word
from condor_pydagman.dagfile.modifier_lines import read_time
from condor_pydagman.named_tuple import NamedTuple

ALL_GROUPS = "ALL_GROUPS"
NODES, SPLICE, ALL_NODES = ("NODES", "SPLICE", "ALL_NODES")
CLEAN_UP_S = 600  # that a clean-up node may take unless its line says otherwise

_ATTRIBUTE = re.compile(r"([A-Za-z_][A-Za-z_0-9]{0,99})[ \t]*=(?!=)[ \t]*(.+)")


class _Attribute(Expression):
    """An attribute of the group's ad."""

    sample = "x = 1"

    def read(self, words: Words, key: str = "", also: Collection[str] = ()) -> Any:
        text = rows.Part.read(self, words, key)
        found = _ATTRIBUTE.fullmatch(text)
        if found is None:
            hint = "expected the name of an attribute, = and a ClassAd expression"
            raise LineError(f"Invalid {key} '{text}'", words, hint=hint)
        return found[1], self.checked(found[2], words, key)

    def write(self, value: tuple[str, str]) -> str:
        return " = ".join(value)


class _CleanUp(rows.Part):
    """The node that cleans up, and how long it may take."""

    sample = "A"

    def read(self, words: Words, key: str = "", also: Collection[str] = ()) -> Any:
        node = super().read(words, key)
        return node, read_time(words, key) if words.peek() else CLEAN_UP_S

    def write(self, value: tuple[str, int]) -> str:
        return f"{name_word(value[0])} {value[1]}"


def _group(name: str, words: Words) -> str:
    if name.upper() == ALL_GROUPS or "+" in name:
        hint = f"{ALL_GROUPS} stands for all groups, and + belongs to splices"
        raise LineError(f"'{name}' can't be the name of a group", words, hint=hint)
    return name


@rows.Row(
    "SITE_GROUP",
    "Nodes that run at one site, which is chosen when the first of them is ready.",
    after="MAXJOBS",
)
class SiteGroupLine(NamedTuple):
    """SITE_GROUP: nodes that run at one site.

    `members` is NODES, SPLICE or ALL_NODES; `names` are of the nodes, or of the splice.
    """

    line: int
    name: str = rows.name("name of the group", check=_group, sample="g")
    members: str = rows.variants(
        {
            NODES: rows.names("nodes", "<node1> [<node2> ...]"),
            SPLICE: rows.names("name", "<splice>", 1),
            ALL_NODES: None,
        },
        empty=(),
    )
    names: tuple[str, ...] = ()


@rows.Row(
    "SITE_POLICY",
    "How the site of a group is chosen, and when the group has to leave it.",
    after="SITE_GROUP",
)
class SitePolicyLine(NamedTuple):
    """SITE_POLICY: what `value` is depends on `key`."""

    line: int
    group: str = rows.name("name of the group", sample="g")
    key: str = rows.variants(
        {
            "REQUIREMENTS": Expression(),
            "RANK": Expression(),
            "ATTRIBUTE": _Attribute(),
            "WAIT": rows.time(),
            "IDLE": rows.time(),
            "HELD": rows.time(),
            "GONE": rows.time(),
            "FAILURES": rows.number("number", 1),
            "REMATCH_IF": Expression(),
            "ROUNDS": rows.number("number", 1),
            "CLEAN_UP": _CleanUp("node"),
            "REMOVAL": rows.time(),
            "OLD_SITE": rows.one_of(("LAST", "NEVER")),
        },
        "<key> <value>",
    )
    value: str | int | tuple[str, str] | tuple[str, int] = ""


@rows.Row(
    "SITE_MATCHED",
    "The site of a group whose work has begun there, as in a rescue file.",
    after="SITE_POLICY",
    in_rescue=True,
)
class SiteMatched(NamedTuple):
    """SITE_MATCHED: the site at which a group's work has begun, the `round`th that it is at."""

    line: int
    group: str = rows.name("name of the group", sample="g")
    site: str = rows.name("name of the site", sample="north")
    round: int = rows.number("number of the round", 1, "<round>")
