"""DAGs from texts that stand in for files, and everything that can be seen of a Dag, to compare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from condor_pydagman.errors import DagFileError
from condor_pydagman.graph.build import BuildOptions, DagFileErrors, build
from condor_pydagman.graph.model import BY_NODE, Dag
from condor_pydagman.language import bulk, lines
from condor_pydagman.vocabulary import ScriptKind

JOBS = "JOB A a.sub\nJOB B a.sub\nJOB C a.sub\n"
NO_BULK = 1 << 30  # lines: no run is that long


class Texts:
    """Stands in for the reading of files.

    Attributes:
        texts: by path; a directory is in it if a path in it is.
        cuts: numbers of lines after which a block ends, the same for all files.
        read: paths in the order in which they were asked for.
    """

    def __init__(self, texts: Mapping[str, str], cuts: frozenset[int] | None = None) -> None:
        self.texts = dict(texts)
        self.cuts = cuts
        self.read: list[str] = []

    def __call__(self, path: str) -> str | Iterator[str]:
        self.read.append(path)
        if path in self.texts:
            text = self.texts[path]
            return text if self.cuts is None else cut(text, self.cuts)
        if any(name.startswith(path + "/") for name in self.texts):
            raise IsADirectoryError(21, "Is a directory", path)
        raise FileNotFoundError(2, "No such file or directory", path)


def cut(text: str, after: frozenset[int]) -> Iterator[str]:
    """The text in blocks that end after those lines, counted from 1, and after its last."""
    block = ""
    for number, line in enumerate(text.split("\n"), 1):
        block += line + "\n"
        if number in after:
            yield block
            block = ""
    yield block[:-1]


def build_files(texts: Mapping[str, str], **options: Any) -> Dag:
    """The Dag of all of these files, named in this order on the command line."""
    return build(list(texts), Texts(texts), BuildOptions(**options))


def build_text(text: str, others: Mapping[str, str] | None = None, **options: Any) -> Dag:
    """The Dag of x.dag, which may name `others`."""
    return build(["x.dag"], Texts({"x.dag": text, **(others or {})}), BuildOptions(**options))


def problems(text: str, others: Mapping[str, str] | None = None, **options: Any) -> DagFileErrors:
    """What is wrong with x.dag, which may name `others`."""
    with pytest.raises(DagFileErrors) as caught:
        build_text(text, others, **options)
    return caught.value


def error(text: str, others: Mapping[str, str] | None = None, **options: Any) -> DagFileError:
    """The only error of x.dag."""
    (found,) = problems(text, others, **options).errors
    return found


def children(dag: Dag, name: str) -> list[str]:
    """The names of a node's children, in order."""
    return [dag.names[child] for child in dag.children(dag.ids[name])]


def parents(dag: Dag, name: str) -> list[str]:
    """The names of a node's parents, in order."""
    return [dag.names[parent] for parent in dag.parents(dag.ids[name])]


def variables(dag: Dag, name: str) -> dict[str, str]:
    """The values of a node's variables, in order."""
    return {variable.key: variable.value for variable in dag.variables.get(dag.ids[name], ())}


def seen(dag: Dag) -> dict[str, Any]:
    """All that can be seen of a finished Dag."""
    nodes = range(len(dag))
    found: dict[str, Any] = {
        field: getattr(dag, field)
        for field in (
            *("files", "names", "ids", "submits", "kinds", "flags", "descriptions"),
            *("category_limits", "splices", "status_file"),
            *("jobstate_log", "dot", "warnings"),
            "remarks",
            *(name for name in BY_NODE if name != "scripts"),
        )
    }
    found["features"] = list(dag.all_features())
    found["places"] = [dag.place(node) for node in nodes]
    found["scripts"] = [[dag.script(node, kind) for kind in ScriptKind] for node in nodes]
    found["variables"] = [dag.variables.get(node) for node in nodes]
    found["nodes with variables"] = sorted(dag.variables)
    found["children"] = [list(dag.children(node)) for node in nodes]
    found["parents"] = [list(dag.parents(node)) for node in nodes]
    found["weak"] = [(p, c) for p in nodes for c in dag.children(p) if dag.is_weak(p, c)]
    return found


def outcome(
    texts: Mapping[str, str],
    files: list[str],
    cuts: frozenset[int] | None = None,
    shortest: int = NO_BULK,
    **options: Any,
) -> dict[str, Any]:
    """What becomes of DAG files: all of the Dag, or all of the errors.

    `shortest` is how many simple lines are read in bulk.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bulk, "MIN_LINES", shortest)
        patch.setattr(lines, "MIN_SEARCH_GAP", 0)
        try:
            return seen(build(files, Texts(texts, cuts), BuildOptions(**options)))
        except DagFileErrors as wrong:
            return {
                "errors": [error.detail() for error in wrong.errors],
                "warnings": wrong.warnings,
                "lost": wrong.lost,
            }
