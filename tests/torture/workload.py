"""The workflows that are tortured: what each node is, by what rule it fails, and its DAG as text.

A node's rule is known before it runs (it fails in its first so many attempts, by its job, its PRE
or its POST script), so how often everything must run can be said without looking at DAGMan.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from random import Random
from typing import NamedTuple

from tests.workflows import shapes

SPLICED = "S+"  # what stands before the names of nodes that come from the splice
BUNDLED = {"no": "bundled.sub", "yes": "transferred.sub"}


class Node(NamedTuple):
    """A node and its rule.

    Attributes:
        name: as `$(JOB)` gives it.
        parents: names.
        retries: of its RETRY command.
        fails: in how many of its first attempts it fails.
        by: what fails then: `job`, `pre` or `post`.
        procs: jobs of its cluster.
        pre: whether it has a PRE script.
        post: whether it has a POST script.
        skip: its PRE script says that it is done (PRE_SKIP).
        noop: its job is not submitted.
        vanilla: its jobs run in slots, not beside the schedd.
        bundled: it may run with others in one job; `no` and `yes`: without and with file transfer.
        writes: its job writes a file, which others read.
        reads: nodes of which its job reads that file.
        seconds: how long a job takes.
        final: it is the FINAL node.
        removed: attempts whose jobs others than DAGMan have removed: these fail.
    """

    name: str
    parents: tuple[str, ...] = ()
    retries: int = 0
    fails: int = 0
    by: str = "job"
    procs: int = 1
    pre: bool = False
    post: bool = False
    skip: bool = False
    noop: bool = False
    vanilla: bool = False
    bundled: str = ""
    writes: bool = False
    reads: tuple[str, ...] = ()
    seconds: float = 0.3
    final: bool = False
    removed: frozenset[int] = frozenset()

    def fails_in(self, attempt: int) -> bool:
        """Whether an attempt does."""
        return attempt < self.fails or attempt in self.removed

    @property
    def last(self) -> int:
        """Number of its last attempt."""
        good = (one for one in range(self.retries) if not self.fails_in(one))
        return next(good, self.retries)

    @property
    def works(self) -> bool:
        """Whether it succeeds in the end."""
        return not self.fails_in(self.last)

    @property
    def leaves_traces(self) -> bool:
        """Whether anything runs of it."""
        return not (self.noop or self.skip) or self.pre or self.post

    def has_jobs(self, attempt: int) -> bool:
        """Whether jobs run in that attempt."""
        return not self.noop and not self.skip and not (self.by == "pre" and attempt < self.fails)

    def has_post(self, attempt: int) -> bool:
        """Whether the POST script runs in that attempt."""
        return self.post and not self.skip and not (self.by == "pre" and attempt < self.fails)


class Workload(NamedTuple):
    """A DAG.

    Attributes:
        nodes: parents before their children, the FINAL node last.
        subdag: name of the node that is a DAG of its own; '' for none.
        inner: the nodes of that DAG.
        lines: commands for the whole DAG.
        options: of condor_submit_dag.
        together: nodes may be submitted together.
    """

    nodes: tuple[Node, ...]
    subdag: str = ""
    inner: tuple[Node, ...] = ()
    lines: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    together: bool = False

    def all_nodes(self) -> list[Node]:
        """With those of the sub-DAG in the place of the node that it is."""
        leaves = _leaves(self.inner)
        found = []
        for node in self.nodes:
            last = ([name] if name != self.subdag else leaves for name in node.parents)
            inner = [it._replace(parents=it.parents or node.parents) for it in self.inner]
            outer = [node._replace(parents=tuple(chain(*last)))]
            found += inner if node.name == self.subdag else outer
        return found


def draw(
    random: Random,
    *,
    sure: bool = False,
    retries: int = 0,
    max_size: int = 36,
    bundles: float = 0.0,
    outputs: bool = True,
) -> Workload:
    """A workflow with some of everything that DAGMan can do.

    Args:
        sure: no node fails for good, and there is neither a FINAL node nor a sub-DAG.
        max_size: how many nodes its shape may have.
        retries: every node has at least so many retries left when its rule is through.
        bundles: how likely it is that nodes run many to a job.
        outputs: whether these write and read files.
    """
    shape = random.choice(sorted(shapes.SHAPES))
    workflow = shapes.make(shape, random.randint(20, max_size), seed=random.randrange(1000))
    traits = {trait for trait in _TRAITS if random.random() < 0.35}
    prefix = SPLICED if random.random() < 0.25 else ""
    parents: dict[str, list[str]] = {name: [] for name in workflow.nodes}
    for parent, child in workflow.edges:
        parents[child].append(prefix + parent)
    nodes = [
        drawn_node(random, traits, prefix + name, tuple(parents[name])) for name in workflow.nodes
    ]
    nodes = [node._replace(retries=max(node.retries, node.last + retries)) for node in nodes]
    if "doomed" in traits and not sure:
        _doom(random, nodes)
    subdag = ""
    inner: tuple[Node, ...] = ()
    if "subdag" in traits and not sure:
        subdag = "Sub"
        before = _leaves(nodes) if prefix else [nodes[0].name]
        nodes += [Node(subdag, tuple(before)), Node("AfterSub", (subdag,))]
        inner = tuple(Node(f"Sub-{n}", (f"Sub-{n - 1}",) if n % 3 else ()) for n in range(6))
    if "final" in traits and not sure:
        nodes.append(Node("Final", seconds=0.5, final=True, post=random.random() < 0.5))
    lines, options = _throttles(random, traits)
    together = random.random() < 0.4
    if random.random() < bundles:
        kinds = random.choice((("", "no", "no", "yes"), ("no",), ("yes",)))
        nodes = [perhaps_bundled(random, node, subdag, kinds) for node in nodes]
        nodes = _with_files(nodes) if outputs else nodes
        lines = (*lines, _bundle_line(random))
    return Workload(tuple(nodes), subdag, inner, lines, options, together)


def perhaps_bundled(random: Random, node: Node, subdag: str, kinds: Sequence[str]) -> Node:
    """The node, of one of these kinds of bundling if it can be."""
    may_be = not (node.final or node.noop or node.skip or node.procs > 1 or node.name == subdag)
    return node._replace(bundled=random.choice(kinds) if may_be else "")


def _with_files(nodes: Sequence[Node]) -> list[Node]:
    """Nodes that are bundled read what those that they wait for have written."""
    writes = {node.name for node in nodes if node.bundled}
    return [
        node._replace(writes=True, reads=tuple(one for one in node.parents if one in writes))
        if node.bundled
        else node
        for node in nodes
    ]


def _bundle_line(random: Random) -> str:
    size, parallel = random.choice((3, 5, 9)), random.randint(1, 3)
    words = f"SIZE {size} PARALLEL {parallel} WAIT {random.choice((0, 2))}"
    return f"BUNDLE all {words} {random.choice(('', 'CHAINS ', 'CHAINS '))}ALL_NODES"


def _leaves(nodes: Iterable[Node]) -> list[str]:
    """Who has no children."""
    parents = {parent for node in nodes for parent in node.parents}
    return [node.name for node in nodes if node.name not in parents]


_TRAITS = (
    "retry job",
    "retry pre",
    "retry post",
    "doomed",
    "all scripts",
    "some scripts",
    "skip",
    "noop",
    "procs",
    "vanilla",
    "subdag",
    "final",
    "category",
    "limits",
)


def drawn_node(random: Random, traits: set[str], name: str, parents: tuple[str, ...]) -> Node:
    """A node with some of these traits."""

    def some(trait: str, share: float) -> bool:
        return random.random() < share and trait in traits

    node = Node(name, parents, seconds=random.choice((0.2, 0.2, 0.4, 0.8, 1.6)))
    if "all scripts" in traits:
        node = node._replace(pre=True, post=True)
    if some("some scripts", 0.4):
        node = node._replace(pre=random.random() < 0.6, post=random.random() < 0.6)
    for by in ("job", "pre", "post"):
        if some(f"retry {by}", 0.25):
            fails = random.randint(1, 2)
            node = node._replace(
                retries=fails + random.randint(0, 1),
                fails=fails,
                by=by,
                pre=node.pre or by == "pre",
                post=node.post or by == "post",
            )
    if some("procs", 0.2):
        node = node._replace(procs=random.randint(2, 4))
    if some("vanilla", 0.15):
        node = node._replace(vanilla=True)
    if some("skip", 0.15) and not node.fails:
        node = node._replace(skip=True, pre=True)
    elif some("noop", 0.15) and (node.by != "job" or not node.fails):
        node = node._replace(noop=True)
    return node


def _doom(random: Random, nodes: list[Node]) -> None:
    """One of the nodes fails for good."""
    place = random.randrange(len(nodes))
    node = nodes[place]
    if not node.skip and not node.noop:
        nodes[place] = node._replace(fails=node.retries + 1)


def _throttles(random: Random, traits: set[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    lines = ("MAXJOBS few 2",) if "category" in traits else ()
    options: list[str] = []
    if "limits" in traits:
        options += ["-maxpre", str(random.randint(1, 4)), "-maxpost", str(random.randint(1, 4))]
        options += ["-maxjobs", str(random.randint(3, 12))]
    return lines, tuple(options)


def files(workload: Workload, more: Iterable[str] = ()) -> dict[str, str]:
    """Name -> text of `t.dag` and of the DAG files that it names; `more` lines for `t.dag`."""
    found = {}
    # Nodes of the splice can't be named outside it: who comes after some comes after all.
    outside = [node for node in workload.nodes if not node.name.startswith(SPLICED)]
    spliced = [node for node in workload.nodes if node.name.startswith(SPLICED)]
    lines = [*more, *workload.lines]
    if spliced:
        found["spliced.dag"] = _text(node_lines(spliced, SPLICED, workload))
        lines.append("SPLICE S spliced.dag")
    if workload.inner:
        found["inner.dag"] = _text(node_lines(workload.inner, "", workload))
    lines += node_lines(outside, "", workload)
    found["t.dag"] = _text(lines)
    return found


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def node_lines(nodes: Iterable[Node], prefix: str, workload: Workload) -> list[str]:
    """What a DAG file says of nodes; without the prefix of their names."""
    lines, edges = [], []
    for number, node in enumerate(nodes):
        name = node.name[len(prefix) :]
        if node.name == workload.subdag:
            lines.append(f"SUBDAG EXTERNAL {name} inner.dag")
        else:
            word = "FINAL" if node.final else "JOB"
            alone = node.procs > 1 or node.vanilla
            file = "job.sub" if alone or not workload.together else "one.sub"
            file = BUNDLED.get(node.bundled, file)
            lines.append(f"{word} {name} {file}{' NOOP' if node.noop else ''}")
            lines.append(f"VARS {name} {_variables(node)}")
        lines += _node_commands(node, name)
        if "MAXJOBS few 2" in workload.lines and number % 4 == 0 and not node.final and not prefix:
            lines.append(f"CATEGORY {name} few")
        if node.parents:
            parents = dict.fromkeys(_outer(parent, prefix) for parent in node.parents)
            edges.append(f"PARENT {' '.join(parents)} CHILD {name}")
    return lines + edges


def _outer(parent: str, prefix: str) -> str:
    """A node outside waits for the whole splice, since it can't name a node of it."""
    return parent[len(prefix) :] if prefix else parent.partition("+")[0]


def _variables(node: Node) -> str:
    fails = node.fails if node.by == "job" else 0
    values = [f'seconds="{node.seconds}"', f'fails="{fails}"']
    if node.procs > 1:
        values.append(f'procs="{node.procs}"')
    if node.bundled:
        reads = ",".join(f"{one}.out" for one in node.reads)
        values.append(f'writes="{f"{node.name}.out" * node.writes}" reads="{reads}"')
    if node.vanilla:
        values.append('kind="vanilla"')
    return " ".join(values)


def _node_commands(node: Node, name: str) -> list[str]:
    lines = []
    if node.retries:
        lines.append(f"RETRY {name} {node.retries}")
    if node.pre:
        fails = node.fails if node.by == "pre" else 0
        code = "skip" if node.skip else f"{fails}"
        lines.append(f"SCRIPT PRE {name} script.sh pre {node.name} $RETRY 0 {code}")
    if node.skip:
        lines.append(f"PRE_SKIP {name} 7")
    if node.post:
        fails = node.fails if node.by == "post" else 0
        lines.append(f"SCRIPT POST {name} script.sh post {node.name} $RETRY $RETURN {fails}")
    return lines
