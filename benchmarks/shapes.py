"""DAG files of a named shape and size: python -m benchmarks.shapes SHAPE [--nodes N] DIRECTORY

The same arguments give the same files, byte for byte.  Lines are written as they are made, so that
a DAG of any size takes no memory.  The DAG to run is `x.dag`; its jobs do nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

NAME = "x.dag"
SUBMIT = "executable = /bin/true\nnoop_job = true\nqueue\n"

LAYERS = 100  # of the layered shapes; all but the last have two children a node: 1.98 edges a node
SPLICE_NODES = 1000  # of one splice
LEVELS = 30  # of the nest

Files = Iterator[tuple[str, Iterable[str]]]  # name of a file, its pieces of text


@dataclass(frozen=True)
class Shape:
    """One kind of DAG.

    Attributes:
        nodes: how many it has unless another number is asked for.
        edges: number of nodes -> number of edges, each parent with each child of a PARENT line.
        files: number of nodes -> its DAG files.
        joins: how many PARENT lines have several nodes on both sides.
        text: what it is, in a few words.
    """

    nodes: int
    edges: Callable[[int], int]
    files: Callable[[int], Files]
    text: str
    joins: int = 0


def write(name: str, nodes: int, directory: Path) -> int:
    """Write the DAG of that shape, and the submit file of its nodes.

    Returns:
        The size of all its DAG files in bytes; one used many times is counted once.
    """
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "job.sub").write_text(SUBMIT, encoding="ascii")
    size = 0
    for file, pieces in SHAPES[name].files(nodes):
        with (directory / file).open("w", encoding="ascii") as stream:
            stream.writelines(pieces)
        size += (directory / file).stat().st_size
    return size


def _grouped(nodes: int) -> Files:
    """All JOB lines, then all VARS, then all PARENT: what most generators write."""

    def text() -> Iterator[str]:
        for number in range(nodes):
            yield _job(number)
        for number in range(nodes):
            yield _vars(number)
        for number in range(nodes):
            yield _parent(number, nodes)

    yield NAME, text()


def _interleaved(nodes: int) -> Files:
    """The same DAG, with all lines of one node together."""

    def text() -> Iterator[str]:
        for number in range(nodes):
            yield _job(number) + _vars(number) + _parent(number, nodes)

    yield NAME, text()


def _job(number: int) -> str:
    return f"JOB n{number:06} job.sub\n"


def _vars(number: int) -> str:
    return f'VARS n{number:06} name="n{number:06}" seed="{number * 7919 % 100000}"\n'


def _parent(number: int, nodes: int) -> str:
    children = " ".join(f"n{child:06}" for child in _children(number, nodes))
    return f"PARENT n{number:06} CHILD {children}\n" if children else ""


def _children(number: int, nodes: int) -> list[int]:
    """Two neighbours in the next layer; a layer is a ring."""
    width = max(nodes // LAYERS, 2)
    layer, place = divmod(number, width)
    first = (layer + 1) * width
    found = [first + place, first + (place + 1) % width]
    return [child for child in found if child < nodes]


def _layered_edges(nodes: int) -> int:
    width = max(nodes // LAYERS, 2)
    if nodes % width == 0:
        return 2 * (nodes - width)
    return sum(len(_children(number, nodes)) for number in range(nodes))


def _pegasus(nodes: int) -> Files:
    """The layered DAG with the lines that Pegasus writes: four a node, then one for each edge."""

    def name(number: int) -> str:
        return f"analyze_ID{number:07}"

    def text() -> Iterator[str]:
        for number in range(nodes):
            node = name(number)
            file = f"{number // 65536:02X}/{number // 256 % 256:02X}/{node}"
            yield (
                f"JOB {node} {file}.sub\n"
                f'VARS {node} +pegasus_wf_dax_job_id="ID{number:07}" +pegasus_site="condorpool"\n'
                f"SCRIPT POST {node} /usr/bin/pegasus-exitcode -lw {file}.out\n"
                f"RETRY {node} 3\n"
            )
        for number in range(nodes):
            for child in _children(number, nodes):
                yield f"PARENT {name(number)} CHILD {name(child)}\n"

    yield NAME, text()


def _bare(nodes: int) -> Files:
    yield NAME, map(_job, range(nodes))


def _chain(nodes: int) -> Files:
    def text() -> Iterator[str]:
        yield from map(_job, range(nodes))
        for number in range(1, nodes):
            yield f"PARENT n{number - 1:06} CHILD n{number:06}\n"

    yield NAME, text()


def _product(nodes: int) -> Files:
    """One PARENT line: the first half of the nodes are parents of the other half."""

    def text() -> Iterator[str]:
        yield from map(_job, range(nodes))
        yield "PARENT"
        yield from (f" n{number:06}" for number in range(nodes // 2))
        yield " CHILD"
        yield from (f" n{number:06}" for number in range(nodes // 2, nodes))
        yield "\n"

    yield NAME, text()


def _splices(nodes: int) -> Files:
    """A chain of splices, all of one file, which is a fan from its first node to its last."""
    count = nodes // SPLICE_NODES

    def inner() -> Iterator[str]:
        last = SPLICE_NODES - 1
        between = "".join(f" n{number:06}" for number in range(1, last))
        yield from map(_job, range(SPLICE_NODES))
        yield f"PARENT n000000 CHILD{between}\n"
        yield f"PARENT{between} CHILD n{last:06}\n"

    def outer() -> Iterator[str]:
        for number in range(count):
            yield f"SPLICE s{number:04} part.dag\n"
        for number in range(1, count):
            yield f"PARENT s{number - 1:04} CHILD s{number:04}\n"

    yield "part.dag", inner()
    yield NAME, outer()


def _splice_edges(nodes: int) -> int:
    count = nodes // SPLICE_NODES
    return count * 2 * (SPLICE_NODES - 2) + count - 1


def _nest(nodes: int, levels: int = LEVELS) -> Files:
    """Each level is a file: a first node, whose children are the level's others and the next level,
    a splice."""
    own = nodes // levels

    def text(level: int) -> Iterator[str]:
        yield from map(_job, range(own))
        if own > 1:
            yield "PARENT n000000 CHILD"
            yield from (f" n{number:06}" for number in range(1, own))
            yield "\n"
        if level + 1 < levels:
            yield f"SPLICE inner {file(level + 1)}\nPARENT n000000 CHILD inner\n"

    def file(level: int) -> str:
        return f"level{level}.dag" if level else NAME

    for level in reversed(range(levels)):
        yield file(level), text(level)


def _deep(nodes: int) -> Files:
    return _nest(nodes, nodes)


SHAPES = {
    "vars": Shape(
        1_000_000, _layered_edges, _grouped, "100 layers, 2 VARS a node; JOB, VARS, PARENT in turn"
    ),
    "interleaved": Shape(
        1_000_000, _layered_edges, _interleaved, "the same, all lines of a node together"
    ),
    "bare": Shape(1_000_000, lambda nodes: 0, _bare, "JOB lines only"),
    "pegasus": Shape(
        200_000, _layered_edges, _pegasus, "VARS, RETRY and POST for each node, as Pegasus does"
    ),
    "chain": Shape(100_000, lambda nodes: nodes - 1, _chain, "each node the child of the last"),
    "product": Shape(
        10_000,
        lambda nodes: (nodes // 2) ** 2,
        _product,
        "one PARENT line, half of all each side",
        1,
    ),
    "splices": Shape(
        1_000_000, _splice_edges, _splices, "a chain of splices of 1,000 nodes, all of one file"
    ),
    "nest": Shape(30_000, lambda nodes: nodes - 1, _nest, "splices in splices, 30 levels"),
    "deep": Shape(1_200, lambda nodes: nodes - 1, _deep, "splices in splices, a node a level"),
}


def main(argv: list[str]) -> int:
    """Write one DAG and tell what it is."""
    listed = "\n".join(f"  {name:12} {shape.text}" for name, shape in SHAPES.items())
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0],
        epilog=f"shapes:\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("shape", choices=SHAPES, metavar="SHAPE")
    parser.add_argument("directory", type=Path, metavar="DIRECTORY")
    parser.add_argument("--nodes", type=int, metavar="N", help="how many; the shape's own number")
    chosen = parser.parse_args(argv)
    shape = SHAPES[chosen.shape]
    nodes = chosen.nodes or shape.nodes
    size = write(chosen.shape, nodes, chosen.directory)
    print(
        f"{chosen.directory / NAME}: {nodes} nodes, {shape.edges(nodes)} edges, {size / 1e6:.1f} MB"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
