"""What decides whether a node with a CACHE command is run again: its facts.

A fact is a text under a name.  What people have written is kept as digests, files by size and
modification time or by a checksum (`cache.adapters.file_states`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

from condor_pydagman.features.cache.commands import cached_of
from condor_pydagman.features.common.file_macros import expanded, known_macros
from condor_pydagman.graph.model import Dag
from condor_pydagman.named_tuple import NamedTuple

Facts = dict[str, str]

INPUT = "input "  # before the name of an input file
PARENTS = "parents"
_DIGEST_LENGTH = 32
# Facts in the order in which a change is told, and how; then come files, then parents.
_TOLD = {
    "description": "its submit description has changed",
    "executable": "its executable has changed",
    "vars": "its VARS have changed",
    "scripts": "its scripts have changed",
    "rules": "its PRE_SKIP or TOLERANCE has changed",
    "directory": "its directory is another one",
}


class CachedNode(NamedTuple):
    """A node with a CACHE command, as JSON can carry it."""

    name: str
    directory: str
    submit: str  # its submit file, relative to `directory`, or the name of a description
    description: str | None  # the text of an inline description, None if it is in a file
    # key, value, and whether it is appended, of its VARS
    variables: Sequence[tuple[str, str, bool]] = ()
    scripts: Sequence[Sequence[object]] = ()
    rules: Sequence[object] = ()
    checksum: bool = False
    # files, relative to `directory`
    inputs: Sequence[str] = ()
    outputs: Sequence[str] = ()


def cached_node(dag: Dag, node: int) -> CachedNode:
    """What the DAG says of the node, before any run: nothing in it depends on retries or jobs."""
    name, submit, command = dag.names[node], dag.submits[node], cached_of(dag)[node]
    variables = tuple((v.key, v.value, v.append) for v in dag.variables.get(node, ()))
    known = known_macros(name, ((key, value) for key, value, _ in variables))
    scripts = dag.scripts.get(node, {})
    return CachedNode(
        name,
        dag.directories.get(node, ""),
        submit,
        dag.descriptions.get(submit),
        variables,
        tuple((kind.value, *map(str, script)) for kind, script in scripts.items()),
        tuple(map(str, (dag.pre_skips.get(node), dag.tolerances.get(node)))),
        command.checksum,
        tuple(expanded(file, known) for file in command.inputs),
        tuple(expanded(file, known) for file in command.outputs),
    )


def facts_of(node: CachedNode, text: str, parents: str) -> Facts:
    """The facts but for those of files.

    Args:
        text: its submit description.
        parents: what the results of its parents come to.
    """
    return {
        "description": digest(text),
        "vars": digest(node.variables),
        "scripts": digest(node.scripts),
        "rules": digest(node.rules),
        "directory": node.directory,
        PARENTS: parents,
    }


def digest(value: object) -> str:
    """Of a text, or of what JSON can carry."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:_DIGEST_LENGTH]


def _in_words(changed: str, old: str, new: str) -> str:
    """How two facts differ: those of files, perhaps, in what is compared of a file."""
    for one, other, how in ((old, new, "off"), (new, old, "on")):
        if "sha256 " in one and " bytes of " in other:
            return f"CHECKSUM was switched {how}"
    return changed


def difference(old: Mapping[str, str], new: Mapping[str, str], parents: str) -> str:
    """What has changed, in words; '' if nothing has.  `parents` tells of those."""
    for name, words in _TOLD.items():
        if old.get(name) != new.get(name):
            return _in_words(words, old.get(name, ""), new.get(name, ""))
    names = [name for name in (*new, *old) if name.startswith(INPUT)]
    for name in names:
        file = name[len(INPUT) :]
        if name not in old:
            return f"its input {file} is new"
        if name not in new:
            return f"{file} is no input of it any more"
        if old[name] != new[name]:
            return _in_words(f"its input {file} has changed", old[name], new[name])
    return parents if old.get(PARENTS) != new.get(PARENTS) else ""
