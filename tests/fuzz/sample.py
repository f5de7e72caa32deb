"""What the fuzzer feeds: a few DAG files that name each other, and how they are to be built."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from random import Random
from typing import NamedTuple, Union

from condor_pydagman.graph.build import BuildOptions
from tests.corpora import DAGS, dag_cases
from tests.make import dag_file
from tests.scenes.reading import scenes
from tests.workflows import shapes

EXAMPLES = DAGS.parents[1] / "examples"


class Sample(NamedTuple):
    """An input.

    Attributes:
        files: texts by path, as bytes of UTF-8 with surrogate escapes would be read.
        dags: those of the command line.
        options: how they are built.
        progress: text of a rescue file.
        block: files are given in blocks of at least that many characters; 0 gives them whole.
        shortest: runs of simple lines begin with that many.
    """

    files: dict[str, str]
    dags: tuple[str, ...]
    options: BuildOptions = BuildOptions()
    progress: str = ""
    block: int = 0
    shortest: int = 2

    def shown(self) -> str:
        """The sample as a person reads it, and as Python does."""
        parts = [f"dags={self.dags!r} block={self.block} shortest={self.shortest}"]
        parts.append(repr(self.options))
        parts += [f"{path!a}: {_cut(ascii(text))}" for path, text in self.files.items()]
        if self.progress:
            parts.append(f"rescue: {_cut(ascii(self.progress))}")
        return "\n".join(parts)


class Files:
    """Reads the files of a sample as if they stood in the working directory.

    Attributes:
        asked: paths that were asked for.
    """

    def __init__(self, sample: Sample) -> None:
        self.asked: set[str] = set()
        self._block = sample.block
        self._files = sample.files

    def read(self, name: str) -> Union[str, Iterator[str]]:  # noqa: UP007  (a type at run time)
        """A ReadText."""
        path = posixpath.normpath(name)
        self.asked.add(path)
        if path in self._files:
            text = self._files[path]
            return _blocks(text, self._block) if self._block else text
        if len(name) > 4095 or any(len(part) > 255 for part in name.split("/")):
            raise OSError(36, "File name too long", name)
        if path == "." or any(file.startswith(path + "/") for file in self._files):
            raise IsADirectoryError(21, "Is a directory", name)
        raise FileNotFoundError(2, "No such file or directory", name)


def random_options(random: Random) -> BuildOptions:
    """Mostly the usual ones."""
    if random.random() < 0.4:
        return BuildOptions()
    seldom = [random.random() < 0.25 for _ in range(5)]
    return BuildOptions(
        use_join_nodes=not seldom[0],
        munge_node_names=not seldom[1],
        allow_any_node_name_characters=seldom[2],
        default_append_vars=seldom[3],
        use_dag_dir=seldom[4] and seldom[0],
        priority=random.choice((0, 0, 0, 7, -(2**31))),
        strict=random.choice((0, 1, 1, 1, 2, 3)),
        cwd=random.choice(("", "/work")),
    )


def real_samples() -> list[Sample]:
    """The corpus, the examples, the scenes of the engine, and workflows as programs write them."""
    found = [
        Sample({posixpath.normpath(name): t for name, t in case.files.items()}, tuple(case.dags))
        for case in dag_cases().values()
    ]
    found += [
        Sample({path.name: path.read_text()}, (path.name,))
        for path in sorted(EXAMPLES.rglob("*.dag"))
    ]
    texts = dict.fromkeys(dag_file(scene.dag) for scene in scenes())
    found += [Sample({"t.dag": text}, ("t.dag",)) for text in texts]
    for shape in sorted(shapes.SHAPES):
        workflow = shapes.make(shape, 20)
        lines = [f"JOB {node} {shapes.kind(node)}.sub" for node in workflow.nodes]
        lines += [f'VARS {node} number="{n}" x="y z"' for n, node in enumerate(workflow.nodes)]
        lines += [f"PARENT {parent} CHILD {child}" for parent, child in workflow.edges]
        found.append(Sample({"x.dag": "\n".join(lines) + "\n"}, ("x.dag",)))
    return found


def as_read(text: str) -> str:
    """`text` as a file that holds it is read."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")


def _cut(text: str) -> str:
    return text if len(text) < 5_000 else f"{text[:1000]}...{text[-1000:]} ({len(text)} characters)"


def _blocks(text: str, size: int) -> Iterator[str]:
    begin = 0
    while begin < len(text):
        end = text.find("\n", begin + size - 1) + 1 or len(text)
        yield text[begin:end]
        begin = end
