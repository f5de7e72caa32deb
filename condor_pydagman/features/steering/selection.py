"""Which nodes a person means: by names, a pattern, a state, a category, or a group of nodes that
run at one site."""

from __future__ import annotations

import fnmatch
import re
import string
from collections.abc import Iterable, Mapping, Sequence

from condor_pydagman.engine.node_states import PUBLISHED, State
from condor_pydagman.engine.nodes import Nodes
from condor_pydagman.graph.model import Dag
from condor_pydagman.language.hints import nearest
from condor_pydagman.vocabulary import STATE_WORDS

MAX_NAME = 200  # characters of one that is not there
MAX_PATTERN = 1000  # characters; to compile a longer one takes too long
_AS_READ = "; `add` adds what the DAG files have got since DAGMan has read them"
_LETTERS = f"{string.ascii_letters}{string.digits}_-.+"
MAX_COMPARED = 200  # names; to compare more takes too long, while nothing else is done


class SelectionError(Exception):
    """There are no such nodes; the text says what there is."""


def chosen(
    nodes: Nodes, kind: str, value: str | tuple[str, ...], categories: Mapping[int, str]
) -> list[int]:
    """The nodes of "names", a "pattern", a "state", a "category" or a "group".

    `categories`: that of each node that has one.

    Raises:
        SelectionError: there are none.
    """
    if isinstance(value, tuple):
        return by_names(nodes, value)
    if kind == "category":
        return by_category(categories, value)
    if kind == "group":
        return by_group(nodes, value)
    return by_pattern(nodes, value) if kind == "pattern" else by_state(nodes, value)


def by_names(nodes: Nodes, names: tuple[str, ...]) -> list[int]:
    """The nodes of these names, each once.

    Raises:
        SelectionError: one of them is not there.
    """
    found: dict[int, None] = {}
    for name in names:
        node = nodes.dag.find(name)
        if node is None:
            near = _one_letter_off(nodes.dag, name[:MAX_NAME])
            meant = _meant(name, [near] if near else nodes.dag.names) or _AS_READ
            raise SelectionError(f"there is no node {name[:MAX_NAME]!r}{meant}")
        found[node] = None
    return list(found)


def _meant(name: str, known: Sequence[str]) -> str:
    near = nearest(name[:MAX_NAME], known[:MAX_COMPARED])
    return f"; did you mean {near}?" if near else ""


def _one_letter_off(dag: Dag, name: str) -> str:
    """A node's name that has one letter more, less, or another one, or two swapped; '' if none."""
    for head, tail in ((name[:at], name[at:]) for at in range(len(name) + 1)):
        changed = [head + letter + rest for letter in _LETTERS for rest in (tail, tail[1:])]
        for one in (head + tail[1:], head + tail[1:2] + tail[:1] + tail[2:], *changed):
            if dag.find(one) is not None:
                return one
    return ""


def by_pattern(nodes: Nodes, pattern: str) -> list[int]:
    """The nodes whose names match `*`, `?` and `[...]`.

    Raises:
        SelectionError: there are none, or it is no pattern.
    """
    if len(pattern) > MAX_PATTERN:
        raise SelectionError(f"a pattern has at most {MAX_PATTERN} characters")
    try:
        matches = re.compile(fnmatch.translate(pattern)).match
    except re.error as error:  # Python 3.9 does not understand [[-!]
        raise SelectionError(f"{pattern!r} is no pattern: {error}") from None
    found = [node for node, name in enumerate(nodes.dag.names) if matches(name)]
    if not found:
        raise SelectionError(f"no node's name matches {pattern!r}")
    return found


def by_state(nodes: Nodes, word: str) -> list[int]:
    """The nodes in a state; there may be none.

    Raises:
        SelectionError: there is no such state.
    """
    status = STATE_WORDS.get(word)
    if status is None:
        raise SelectionError(
            f"there is no state {word[:MAX_NAME]!r}; the states are {', '.join(STATE_WORDS)}"
        )
    found = nodes.in_state(*(state for state in State if PUBLISHED[state] is status))
    return [node for node in found if nodes.dag.names[node]]


def by_category(categories: Mapping[int, str], category: str) -> list[int]:
    """The nodes of a category.

    Raises:
        SelectionError: no node is in it.
    """
    found = sorted(node for node, name in categories.items() if name == category)
    if not found:
        known = ", ".join(sorted(set(categories.values())))
        there = f"those with nodes are {known}" if known else "no node has one"
        raise SelectionError(f"no node has the category {category[:MAX_NAME]!r}; {there}")
    return found


def by_group(nodes: Nodes, name: str) -> list[int]:
    """The nodes of a site group.

    Raises:
        SelectionError: there is no such group.
    """
    groups = nodes.dag.groups
    for group in groups:
        if group.name == name:
            return list(group.nodes)
    meant = _meant(name, [group.name for group in groups])
    has_none = "" if groups else "; the DAG has none (SITE_GROUP)"
    raise SelectionError(f"there is no group {name[:MAX_NAME]!r}{meant}{has_none}")


def one_of_each_group(dag: Dag, chosen_nodes: Iterable[int]) -> list[int]:
    """Of nodes of the same group the first one alone; nodes of none stay."""
    found: dict[int, int] = {}
    for node in chosen_nodes:
        group = dag.group_of(node)
        found.setdefault(~node if group is None else group, node)
    return sorted(found.values())
