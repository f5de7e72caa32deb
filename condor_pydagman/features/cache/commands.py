"""CACHE: nodes that are not run again while nothing of them has changed.

Several lines about a node add up.  Nodes whose end means more than that they are done can't have
it: ALL_NODES passes them over, and a line that names one is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from condor_pydagman.features.common import rows
from condor_pydagman.features.common.file_macros import checked_file
from condor_pydagman.features.common.inside import check_inside
from condor_pydagman.graph.apply import Applied
from condor_pydagman.graph.building import ALL_NODES, Building, fail
from condor_pydagman.graph.model import Dag, FeatureData
from condor_pydagman.graph.problems import ProcessingError
from condor_pydagman.language.lexer import LineError, Words
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import NodeKind

_MISSPELT = {
    **{"INPUT": "INPUTS", "OUTPUT": "OUTPUTS", "CHECKSUMS": "CHECKSUM"},
    **{"COUNT": "COUNTS", "IGNORE": "IGNORES"},
}
_NAME = re.compile(r"\+?[A-Za-z_][\w.]*", re.ASCII)


def _file(word: str, words: Words) -> str:
    """Names of files may hold commas and stars, but are hardly meant to."""
    checked_file(word, words)
    if "," in word:
        words.remark(f"'{word}' is one file with a comma in its name: blanks stand between files")
    elif word.upper() in _MISSPELT:
        words.remark(f"'{word}' is taken for a file: the word is {_MISSPELT[word.upper()]}")
    elif "*" in word or "?" in word:
        words.remark(f"'{word}' is the name of one file: * and ? have no meaning there")
    return word


def _name(word: str, words: Words) -> str:
    if not _NAME.fullmatch(word):
        hint = "expected names of a submit description, such as request_cpus or +Site, with blanks"
        raise LineError(f"Invalid name '{word}'", words, hint=f"{hint} between them")
    return word.lower()


_FILES = rows.files("files", "<file> ...", _file)
_NAMES = rows.files("names", "<name> ...", _name)


@rows.Row(
    "CACHE",
    "The node is not run again if nothing of it has changed since it was last done.",
    after="NODE_RESULT",
)
class Cache(NamedTuple):
    """CACHE: the node is not run again while nothing of it has changed.

    Attributes:
        checksum: files are compared by what is in them, not by size and time.
        inputs, outputs: names of files, relative to the node's directory, which may hold `$(JOB)`
            and names of VARS.
        counts, ignores: names of the submit description, in lower case, that count, or that do not,
            against the table of `cache.adapters.compared`; the last line about a name holds.
        named: of a Dag: a line names the node, or a sweep that it is of, not only ALL_NODES.
    """

    line: int
    node: str = rows.node()
    checksum: bool = rows.flag("CHECKSUM", again=True)
    inputs: tuple[str, ...] = rows.option("INPUTS", _FILES, (), rows.ADDED_UP)
    outputs: tuple[str, ...] = rows.option("OUTPUTS", _FILES, (), rows.ADDED_UP)
    named: bool = False
    counts: tuple[str, ...] = rows.option("COUNTS", _NAMES, (), rows.ADDED_UP)
    ignores: tuple[str, ...] = rows.option("IGNORES", _NAMES, (), rows.ADDED_UP)


_NOTHING = Cache(0, "")
_WRONG = "CACHE can't be said of node {}: {}"
_FOR_JOBS = "CACHE is for JOB nodes; CACHE ALL_NODES passes all others over"


class CachedOfDag(FeatureData):
    """The nodes with a CACHE command."""

    by_node = ("cached",)
    place = 1

    def __init__(self) -> None:
        self.cached: dict[int, Cache] = {}

    def node_lines(self, dag: Dag, node: int) -> Iterator[Cache]:
        """As of `FeatureData`."""
        if node in self.cached:
            yield self.cached[node]._replace(node=dag.names[node], named=False)

    def file_names(self, node: int) -> tuple[str, ...]:
        """As of `FeatureData`."""
        one = self.cached.get(node, _NOTHING)
        return (*one.inputs, *one.outputs)

    def lines_used(self, node: int) -> tuple[str, ...]:
        """As of `FeatureData`."""
        one = self.cached.get(node, _NOTHING)
        return (*one.counts, *one.ignores)

    def complete(self, building: Building) -> None:
        """Leave out nodes that publish something, or add to the DAG.

        What they do for the run would be missing if they did not run.
        """
        dag = building.dag
        others = list(dag.all_features())
        for node in list(self.cached):
            why = next(filter(None, (data.must_run(node) for data in others)), "")
            if why and self.cached[node].named:
                file, _, line = dag.place(node).rpartition(":")
                text = _WRONG.format(dag.names[node], f"{why}, which must be done in each run")
                error = ProcessingError(text, file=file, line=int(line or 0), hint=_FOR_JOBS)
                error.place = error.line
                raise error
            if why:
                del self.cached[node]


def cached_of(dag: Dag) -> Mapping[int, Cache]:
    """The nodes with a CACHE command."""
    return CachedOfDag.of(dag).cached


def cache(building: Building, command: Cache) -> None:
    """CACHE."""
    dag = building.dag
    cached = CachedOfDag.put(dag).cached
    inputs = tuple(map(building.text, command.inputs))
    outputs = tuple(map(building.text, command.outputs))
    named = command.node.upper() != ALL_NODES or building.find(command.node) is not None
    for node in building.nodes(command.node):
        why = _unfit(dag, node)
        if why and named:
            fail(_WRONG.format(building.shown(node), why), _FOR_JOBS, at=command.node)
        if not why:
            old = cached.get(node, _NOTHING)
            new = Cache(
                0,
                "",
                old.checksum or command.checksum,
                _united(old.inputs, inputs),
                _united(old.outputs, outputs),
                old.named or named,
                _united(_without(old.counts, command.ignores), command.counts),
                _united(_without(old.ignores, command.counts), command.ignores),
            )
            cached[node] = building.share(new)


def _united(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*old, *new)))


def _without(old: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in old if name not in names)


def _unfit(dag: Dag, node: int) -> str:
    kind = NodeKind(dag.kinds[node])
    if kind is not NodeKind.JOB:
        return f"it is a {kind.name} node"
    return "it is a NOOP node, which runs nothing" if dag.is_noop(node) else ""


def _of_job(command: Cache) -> Cache:
    check_inside(*command.inputs, *command.outputs)
    return command


APPLIED = (Applied(Cache, cache, of_new="CACHE", of_job=_of_job),)
