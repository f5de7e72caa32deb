"""Shapes of well-known scientific workflows, at any size, always the same for the same seed.

Only who waits for whom is kept; jobs, files and run times are not.  The shapes follow their
published descriptions:

- S. Bharathi, A. Chervenak, E. Deelman, G. Mehta, M.-H. Su, K. Vahi: Characterization of
  Scientific Workflows. WORKS 2008.  (Montage, CyberShake, Epigenomics, LIGO Inspiral, SIPHT)
- G. Juve, A. Chervenak, E. Deelman, S. Bharathi, G. Mehta, K. Vahi: Characterizing and Profiling
  Scientific Workflows. Future Generation Computer Systems 29(3), 2013.  (the same five)
- T. Coleman, H. Casanova, L. Pottier, M. Kaushik, E. Deelman, R. Ferreira da Silva: WfCommons: A
  Framework for Enabling Scientific Workflow Research and Development. Future Generation Computer
  Systems 128, 2022.  (1000Genome, Seismology, BLAST)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from random import Random
from typing import NamedTuple

SMALLEST = 20  # below this some shapes are no more what they are


class Workflow(NamedTuple):
    """Nodes by name, parents always before their children, and edges from parent to child."""

    nodes: list[str]
    edges: list[tuple[str, str]]


def kind(node: str) -> str:
    """What a node does, for example `mDiffFit` for `mDiffFit_12`."""
    return node.rpartition("_")[0]


def make(shape: str, size: int, seed: int = 0) -> Workflow:
    """A workflow of one of the SHAPES with about `size` nodes (within a tenth).

    Raises:
        ValueError: there is no such shape, or `size` is below SMALLEST.
    """
    if shape not in SHAPES:
        raise ValueError(f"no shape {shape!r}; there are {', '.join(SHAPES)}")
    if size < SMALLEST:
        raise ValueError(f"{size} nodes are too few for a shape; {SMALLEST} is the least")
    sketch = _Sketch()
    SHAPES[shape](sketch, size, Random(f"{shape} {size} {seed}"))
    return Workflow(sketch.nodes, sketch.edges)


class _Sketch:
    """A workflow that grows."""

    def __init__(self) -> None:
        self.nodes: list[str] = []
        self.edges: list[tuple[str, str]] = []
        self._counts: Counter[str] = Counter()

    def add(self, what: str, parents: Iterable[str] = ()) -> str:
        """Add a node after its parents; returns its name."""
        name = f"{what}_{self._counts[what]}"
        self._counts[what] += 1
        self.nodes.append(name)
        self.edges += [(parent, name) for parent in parents]
        return name

    def each(self, what: str, parents: Iterable[str]) -> list[str]:
        """Add one node after each of the parents."""
        return [self.add(what, [parent]) for parent in parents]

    def chain(self, kinds: Iterable[str], parents: Iterable[str]) -> str:
        """Add nodes one after the other; returns the last."""
        last = list(parents)
        for what in kinds:
            last = [self.add(what, last)]
        return last[0]


def _shares(total: int, parts: int, random: Random) -> list[int]:
    """Uneven positive numbers, as many as `parts`, with that sum."""
    cuts = sorted(random.sample(range(1, total), parts - 1))
    return [high - low for low, high in zip([0, *cuts], [*cuts, total])]


def montage(sketch: _Sketch, size: int, random: Random) -> None:
    """A mosaic of sky images: neighbours are compared, then every image is corrected.

    Images lie on a grid, and each overlaps its neighbours to the right, below and, mostly, across.
    """
    images = max(4, round((size - 6) / 4.4))
    while 6 + 2 * images + len(_overlaps(images)) < size:  # small grids have few neighbours
        images += 1
    overlaps = _overlaps(images)
    projected = [sketch.add("mProjectPP") for _ in range(images)]
    wanted = min(len(overlaps), max(1, size - 6 - 2 * images))
    chosen = sorted(random.sample(overlaps, wanted))
    fits = [sketch.add("mDiffFit", [projected[a], projected[b]]) for a, b in chosen]
    model = sketch.chain(["mConcatFit", "mBgModel"], fits)
    corrected = [sketch.add("mBackground", [image, model]) for image in projected]
    sketch.chain(["mImgtbl", "mAdd", "mShrink", "mJPEG"], corrected)


def _overlaps(images: int) -> list[tuple[int, int]]:
    """Pairs of neighbours among images that lie row by row on a square grid."""
    width = max(2, round(images**0.5))
    return [
        (first, second)
        for first in range(images)
        for second in (first + 1, first + width, first + width + 1)
        if second < images and (second % width or second - first == width)
    ]


def epigenomics(sketch: _Sketch, size: int, random: Random) -> None:
    """Sequencing lanes, each split into chunks that go through four steps; all are merged."""
    lanes = max(1, min(8, size // 40))
    chunks = max(lanes, round((size - 3 - 2 * lanes) / 4))
    steps = ["filterContams", "sol2sanger", "fastq2bfq", "map"]
    merged = []
    for share in _shares(chunks, lanes, random):
        split = sketch.add("fastqSplit")
        merged.append(sketch.add("mapMerge", [sketch.chain(steps, [split]) for _ in range(share)]))
    sketch.chain(["mapMerge", "maqIndex", "pileup"], merged)


def thousand_genome(sketch: _Sketch, size: int, random: Random) -> None:
    """Chromosomes: many individuals are merged, then seven populations are analysed twice each."""
    chromosomes = max(1, min(22, size // 40))
    populations = max(1, min(7, size // chromosomes // 6))
    individuals = max(chromosomes, size - chromosomes * (2 + 2 * populations))
    for share in _shares(individuals, chromosomes, random):
        merged = sketch.add("individuals_merge", [sketch.add("individuals") for _ in range(share)])
        sifted = sketch.add("sifting")
        for _ in range(populations):
            sketch.add("mutation_overlap", [merged, sifted])
            sketch.add("frequency", [merged, sifted])


def cybershake(sketch: _Sketch, size: int, random: Random) -> None:
    """Earthquake hazard of a site: pairs of synthesis and peak values, zipped in two archives."""
    extracts = max(2, size // 50)
    pairs = max(extracts, (size - 2 - extracts) // 2)
    seismograms = []
    for share in _shares(pairs, extracts, random):
        tensors = sketch.add("ExtractSGT")
        seismograms += [sketch.add("SeismogramSynthesis", [tensors]) for _ in range(share)]
    sketch.add("ZipSeis", seismograms)
    sketch.add("ZipPSA", sketch.each("PeakValCalcOkaya", seismograms))


def inspiral(sketch: _Sketch, size: int, random: Random) -> None:
    """Search for gravitational waves: two rounds of matching, each with a test for coincidence."""
    groups = max(1, size // 42)
    lines = max(groups, round((size - 2 * groups) / 4))
    for share in _shares(lines, groups, random):
        banks = [sketch.add("TmpltBank") for _ in range(share)]
        coincident = sketch.add("Thinca", sketch.each("Inspiral", banks))
        triggers = [sketch.add("TrigBank", [coincident]) for _ in range(share)]
        sketch.add("Thinca", sketch.each("Inspiral", triggers))


def sipht(sketch: _Sketch, size: int, random: Random) -> None:
    """Search for small RNA in bacteria: one small graph with a wide part for each replicon."""
    fixed = 12
    replicons = max(1, size // 33)
    motifs = max(replicons, size - replicons * fixed)
    for share in _shares(motifs, replicons, random):
        patterns = sketch.add("Patser_concate", [sketch.add("Patser") for _ in range(share)])
        evidence = [sketch.add(what) for what in ("Transterm", "Findterm", "RNAMotif", "Blast")]
        found = sketch.add("SRNA", evidence)
        parsed = sketch.add("FFN_Parse", [found])
        checks = [
            sketch.add("Blast_Synteny", [found, parsed]),
            *(sketch.add(f"Blast_{what}", [found]) for what in ("Candidate", "QRNA", "Paralogues")),
        ]
        sketch.add("SRNA_Annotate", [patterns, found, *checks])


def seismology(sketch: _Sketch, size: int, _: Random) -> None:
    """Deconvolution of many seismograms, and one sifting of them all."""
    sketch.add("siftSTFByMisfit", [sketch.add("sG1IterDecon") for _ in range(size - 1)])


def blast(sketch: _Sketch, size: int, _: Random) -> None:
    """A query split into many searches, with two collections of their results."""
    split = sketch.add("split_fasta")
    searches = [sketch.add("blastall", [split]) for _ in range(size - 3)]
    sketch.add("cat_blast", searches)
    sketch.add("cat", searches)


SHAPES: dict[str, Callable[[_Sketch, int, Random], None]] = {
    "montage": montage,
    "epigenomics": epigenomics,
    "1000genome": thousand_genome,
    "cybershake": cybershake,
    "inspiral": inspiral,
    "sipht": sipht,
    "seismology": seismology,
    "blast": blast,
}
