"""What is added to a DAG that runs: its text, and the DAG that this text gives.

The text is kept whole (`PieceText`), so that a restart reads the same piece again, whatever has
become of the files.  Reading takes a step at a time: the caller has other things to do in between.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import compress
from operator import not_

from condor_pydagman.dagfile.growth_lines import PLACE
from condor_pydagman.dagfile.lexer import file_word, item_text
from condor_pydagman.dagfile.lines import in_blocks
from condor_pydagman.graph import (
    cache_commands,
    enough_commands,
    limit_uses,
    splices,
    untrusted,
    whole,
)
from condor_pydagman.graph.apply_bulk import NotSimple
from condor_pydagman.graph.building import BuildOptions
from condor_pydagman.graph.condition_commands import categories_of, mistakes_of
from condor_pydagman.graph.cycle import find_cycle
from condor_pydagman.graph.grow import Growth, NumberedPiece, extend, numbered
from condor_pydagman.graph.model import Brought, Dag, Extension, Feeding, GrownPiece
from condor_pydagman.graph.piece_building import Begun, PieceBuilding
from condor_pydagman.graph.problems import DagFileErrors, ProcessingError
from condor_pydagman.graph.reading import MAX_ERRORS, DagReader, placed
from condor_pydagman.graph.stepwise import OBJECTS, Steps, at_once, in_parts
from condor_pydagman.named_tuple import NamedTuple

CONDITIONS = 500  # RUN_IF lines that are looked at in one step
_NO_NAME = re.compile(r"[\s\"'\\+{}\x00-\x1f\x7f]")


class PieceText(NamedTuple):
    """All that a piece is made of.

    Attributes:
        file: name of its first file.
        texts: text of each file that it has been read from, by path.
        options: how they are read.
        directory: of its nodes, unless they have one of their own.
        prefix: what the names of its nodes begin with.
        node: the node that has added it, '' if a person has.
        children: nodes before which it stands; if it stands between.
        between: whether it stands between `node` and `children`.
        feeding: if the FEEDER has given it.
        join: number of its first join node; those of the DAG have lower ones.
        untrusted: a job has written it: see `graph.untrusted`.
    """

    file: str
    texts: Mapping[str, str]
    options: BuildOptions
    directory: str = ""
    prefix: str = ""
    node: str = ""
    children: tuple[str, ...] = ()
    between: bool = False
    feeding: Feeding | None = None
    join: int = 0
    untrusted: bool = False


class Piece(NamedTuple):
    """Nodes and edges for a DAG.

    Attributes:
        dag: the nodes, and behind them stand-ins of `known`.
        known: nodes that are in the DAG already, which edges lead from or to.
        node: the node that has added it, '' if a person has.
        digest: of its text, under which that is kept.
        children: those of `known` that get new parents.
        base: how often the DAG had changed when this one was read.
        feeding: if the FEEDER has given it.
        ordered: names of nodes of the DAG that get parents which it has, too.
        numbered: it as it is to be in the DAG, if that has not changed since it was read.
    """

    dag: Dag
    known: tuple[int, ...]
    node: str = ""
    digest: str = ""
    children: tuple[int, ...] = ()
    base: int = 0
    feeding: Feeding | None = None
    ordered: tuple[str, ...] = ()
    numbered: NumberedPiece | None = None

    def __repr__(self) -> str:
        """For people: without the nodes, which may be very many."""
        shown = (self.size, self.known, self.node, self.digest, self.children, self.base)
        return f"Piece{(*shown, self.feeding)}"

    @property
    def size(self) -> int:
        """How many new nodes it has."""
        return len(self.dag) - len(self.known)


def add_piece(dag: Dag, piece: Piece, number: int) -> Growth:
    """Add a piece to its DAG; the node that has added it adds nothing any more."""
    more = piece.numbered
    if more is None or piece.base != dag.changes:
        more = at_once(numbered(dag, piece.dag, piece.known))
    node = piece.node if piece.node in dag.ids else ""  # it has been let go, and its name is free
    if node:
        dag.extensions.pop(dag.ids[node], None)
    dag.pieces.append(GrownPiece(number, piece.digest, node, piece.size, piece.feeding))
    growth = extend(dag, more)
    dag.brought[number] = Brought(growth.nodes, growth.junctions, piece.ordered)
    return growth


def scattered(extension: Extension, text: str) -> str:
    """The DAG file that a SCATTER makes of a list: the JOB line of an item stands where the item
    does.

    Raises:
        DagFileErrors: a line gives no name for a node.
    """
    jobs: list[str] = []
    variables: list[str] = []
    errors: list[ProcessingError] = []
    text = text.removeprefix("\ufeff")  # which editors and spreadsheets write at the beginning
    for line, item in enumerate(text.split("\n"), 1):
        item = item.strip()
        if not item or item.startswith("#"):
            jobs.append("")
            continue
        values = {"item": item, "number": str(len(jobs) - jobs.count(""))}
        values.update((str(number), word) for number, word in enumerate(item.split(), 1))
        name = _filled(extension.pattern, values)
        bad = _NO_NAME.search(name) or not untrusted.leads_inside(name)
        if bad or len(errors) >= MAX_ERRORS:
            if len(errors) < MAX_ERRORS:
                errors.append(_no_name(extension, line, item, name))
            continue
        short = _asked_in_vain(extension, values)
        if short:
            errors.append(placed(short, extension.file, line, item))
            continue
        jobs.append(f"JOB {name} {file_word(extension.submit)}")
        if extension.pairs:
            texts = {key: item_text(value) for key, value in values.items()}
            pairs = " ".join(
                f'{key}="{_quoted(_filled(pattern, texts))}"' for key, pattern in extension.pairs
            )
            variables.append(f"VARS {name} {pairs}")
    if errors:
        raise DagFileErrors(errors)
    if extension.retries and any(jobs):
        variables.append(f"RETRY ALL_NODES {extension.retries}")
    return "\n".join([*jobs, *variables, ""])


def _asked_in_vain(extension: Extension, values: Mapping[str, str]) -> ProcessingError | None:
    """What a line has too few words for; None if it has enough."""
    for key, pattern in extension.pairs:
        for asked in PLACE.findall(pattern):
            if asked not in values:
                words = len(values) - 2
                message = f"VARS {key}={pattern} asks for word {asked} of a line with {words}"
                hint = "add the word to the line, or take the line away"
                return ProcessingError(message, file="", hint=hint)
    return None


def _filled(pattern: str, values: Mapping[str, str]) -> str:
    return PLACE.sub(lambda found: values.get(found[1], found[0]), pattern)


def _quoted(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')


def _no_name(extension: Extension, line: int, item: str, name: str) -> ProcessingError:
    words = len(item.split())
    hint = f"the pattern is {extension.pattern}; {{number}} in it gives names of digits"
    if not untrusted.leads_inside(name):
        hint = f"as $(JOB) in names of files it would lead out of the DAG's directory; {hint}"
    elif PLACE.search(name):
        number = f"{words} word{'s' if words > 1 else ''}"
        hint = f"the pattern is {extension.pattern}, and the line has {number}"
    error = ProcessingError(
        f"'{name}' can't be the name of a node",
        file="",
        hint=hint,
        at=item,
    )
    return placed(error, extension.file, line, item)


def read_piece(
    dag: Dag,
    text: PieceText,
    begun: Begun = lambda node: False,
    digest: str = "",
    *,
    anew: bool = False,
    named: untrusted.Named | None = None,
) -> Steps[Piece]:
    """The piece of that text, for this DAG.

    `begun`: whether a node of the DAG has begun, so that it can't get another parent; `anew`: it
    has been added to it before, and nodes that it names may have been let go since; `named`: the
    submit descriptions that an untrusted piece may name, None if it was admitted and kept before.

    Raises:
        DagFileErrors: all that is wrong with it.
    """
    options = text.options
    admitted = None
    if text.untrusted:
        options = options._replace(default_append_vars=False)
        admitted = untrusted.as_text if named is None else untrusted.admitted

    def read(*, in_bulk: bool) -> Steps[Piece]:
        building = PieceBuilding(dag, options, begun, anew=anew, join=text.join, admitted=admitted)
        return _read(dag, building, text, digest, named, in_bulk=in_bulk)

    try:
        in_bulk = not text.untrusted or untrusted.is_plain(text.texts[text.file])
        return (yield from read(in_bulk=in_bulk))
    except NotSimple:
        return (yield from read(in_bulk=False))


def _read(
    dag: Dag,
    building: PieceBuilding,
    text: PieceText,
    digest: str,
    named: untrusted.Named | None,
    *,
    in_bulk: bool,
) -> Steps[Piece]:
    base = dag.changes
    building.scope.prefix, building.scope.directory = text.prefix, text.directory
    reader = DagReader(building, _texts(text.texts), in_bulk=in_bulk)
    yield from reader.steps(text.file)
    errors = reader.errors
    if not errors:
        errors += _conflicts(dag, building, text.file)
    building.close()
    if not errors:
        known = yield from _finish(building, text)
        children = _children(building.dag, known)
        yield
        if named is not None:
            count = len(building.dag) - len(known)
            errors += untrusted.mistakes(building.dag, count, named, text.file)
        piece = Piece(building.dag, known, text.node, digest, children, base, text.feeding)
        errors += yield from _cycles(dag, piece, text.file)
        errors += yield from _bad_decisions(dag, piece)
    if errors:
        raise DagFileErrors(errors, building.dag.warnings, reader.lost)
    ordered = {dag.names[child] for child in _ordered_anew(piece)}
    yield
    more = yield from numbered(dag, piece.dag, known)
    return piece._replace(ordered=tuple(sorted(ordered)), numbered=more)


def _texts(texts: Mapping[str, str]) -> Callable[[str], Iterator[str]]:
    def read(path: str) -> Iterator[str]:
        try:
            return in_blocks(texts[path])
        except KeyError:
            raise FileNotFoundError(2, "No such file or directory", path) from None

    return read


def _conflicts(dag: Dag, building: PieceBuilding, file: str) -> list[ProcessingError]:
    """What is said anew of categories and submit descriptions that the DAG has, and of new nodes
    that have what does not go together."""
    found = []
    for name, limit in building.scope.limits.items():
        if dag.category_limits.get(name, limit) != limit:
            text = f"MAXJOBS {name} {limit}: the DAG has MAXJOBS {name} {dag.category_limits[name]}"
            found.append(ProcessingError(text, file=file, hint="name a category of its own"))
    for name, description in building.scope.descriptions.items():
        if dag.descriptions.get(name, description) != description:
            text = f"The DAG has another submit description {name}"
            found.append(ProcessingError(text, file=file, hint="give it another name"))
    try:
        cache_commands.leave_out(building)
    except ProcessingError as error:
        error.file = file
        found.append(error)
    return found


def _finish(building: PieceBuilding, text: PieceText) -> Steps[tuple[int, ...]]:
    """Number nodes as they are to be, and stand-ins behind them; join the piece to its node."""
    piece, stand_ins = building.dag, building.stand_ins
    scope = building.scope
    order = [node for nodes in scope.ranges() for node in nodes]
    if stand_ins:
        order += stand_ins
    splices.note(building)
    if order != list(range(len(order))):
        yield from piece.renumber_in_steps(order)
    yield
    piece.category_limits, piece.descriptions = scope.limits, scope.descriptions
    known = list(stand_ins.values())
    count = len(order) - len(known)
    limit_uses.of_new_nodes(piece, range(count))
    ends = _ends(piece, count) if text.between and count else None
    if text.options.priority:
        whole.add_priority(building)
    if ends is not None:
        roots, leaves = ends
        if roots and building.is_there(text.node):  # or there is a cycle, which is told later
            piece.add_edges((_stand_in(piece, known, building, text.node),), roots)
        names = filter(building.is_there, text.children)
        children = [_stand_in(piece, known, building, name) for name in names]
        if children and leaves:
            piece.add_edges(leaves, sorted(children))
    yield
    yield from piece.finish_in_steps(parents_later=True)
    yield
    return tuple(known)


def _bad_decisions(dag: Dag, piece: Piece) -> Steps[list[ProcessingError]]:
    """What RUN_IF and ENOUGH of new nodes name that they can't."""
    others = len(dag.extensions) - (dag.ids.get(piece.node, -1) in dag.extensions)
    grows = others > 0 or dag.feeder is not None
    errors = [
        *enough_commands.mistakes(piece.dag, outer_grows=grows),
        *limit_uses.mistakes(piece.dag),
    ]
    conditions = piece.dag.conditions
    categories = categories_of(dag) | categories_of(piece.dag) if conditions else set()
    for count, node in enumerate(conditions, 1):
        errors += mistakes_of(piece.dag, node, categories)
        if len(errors) >= MAX_ERRORS:
            break
        if not count % CONDITIONS:
            yield
    return errors[:MAX_ERRORS]


def _ends(piece: Dag, count: int) -> tuple[list[int], list[int]]:
    """The new nodes that have no new parent, and those that have no new child."""
    has_parents, has_children = bytearray(len(piece)), bytearray(len(piece))
    piece.edges.mark_inner_ends(count, has_parents, has_children)
    roots = [node for node in range(count) if not has_parents[node]]
    return roots, [node for node in range(count) if not has_children[node]]


def _stand_in(piece: Dag, known: list[int], building: PieceBuilding, name: str) -> int:
    node = piece.ids.get(name)
    if node is None:
        node = piece.add_node(name, "")
        known.append(building.outer_node(name))
    return node


def _children(piece: Dag, known: Sequence[int]) -> tuple[int, ...]:
    first = len(piece) - len(known)
    return tuple(
        node for place, node in enumerate(known, first) if piece.edges.predecessor_count(place)
    )


def _cycles(dag: Dag, piece: Piece, file: str) -> Steps[list[ProcessingError]]:
    """A cycle through the DAG and the piece, as an error; an edge that the DAG has already, too."""
    errors = []
    for places in in_parts(range(piece.size, len(piece.dag))):
        errors += [
            ProcessingError(
                f"{dag.names[parent]} is a parent of {dag.names[child]} already",
                file=file,
                hint="take the PARENT line out",
            )
            for parent, child in _edges_between_known(piece, places)
            if child in dag.successors(parent)
        ]
        yield
    alone = _stands_alone(dag, piece)
    yield
    if alone:
        cycle = yield from _cycle_inside(piece.dag)
    else:
        cycle = yield from _Search(dag, piece).cycle()
    if cycle:
        shown = " -> ".join(cycle[:20])
        errors.append(
            ProcessingError(
                f"The added nodes would form a cycle: {shown}",
                file=file,
                hint="no node can wait for itself; the nodes of a cycle would never run",
            )
        )
    return errors


def _stands_alone(dag: Dag, piece: Piece) -> bool:
    """Whether no way leads from the DAG's nodes behind the piece to those before it: there are none
    behind, or these are children of the only one before."""
    before = [
        node
        for place, node in enumerate(piece.known, piece.size)
        if piece.dag.edges.successor_count(place)
    ]
    if not piece.children or not before:
        return True
    return len(before) == 1 and set(piece.children) <= set(dag.children(before[0]))


def _cycle_inside(dag: Dag) -> Steps[list[str]]:
    """A cycle of a piece alone: names of its nodes, the first again at the end; [] if none is."""
    waiting = dag.edges.predecessor_counts()
    free = list(compress(dag.vertices(), map(not_, waiting)))
    yield
    count = 0
    for vertex in free:  # which grows meanwhile
        count += 1
        if not count % OBJECTS:
            yield
        for after in dag.successors(vertex):
            waiting[after] -= 1
            if not waiting[after]:
                free.append(after)
    if count == dag.vertex_count:
        return []
    cycle = find_cycle(dag)
    assert cycle is not None
    return [dag.names[node] for node in (*cycle, cycle[0])]


def _edges_between_known(piece: Piece, places: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Those from the nodes that have these stand-ins."""
    for place in places:
        parent = piece.known[place - piece.size]
        for vertex in piece.dag.successors(place):
            if vertex >= piece.size:
                yield parent, piece.known[vertex - piece.size]


def _ordered_anew(piece: Piece) -> Iterator[int]:
    """Nodes of the DAG that get parents which it has, too; one may come twice."""
    for place in range(piece.size, len(piece.dag)):
        for vertex in piece.dag.successors(place):
            inside = (vertex,) if vertex >= 0 else piece.dag.successors(vertex)
            if max(inside) >= piece.size:
                yield from (piece.known[v - piece.size] for v in inside if v >= piece.size)


class _Search:
    """Looks for a cycle, from the nodes that get new parents and from new ones, depth first.

    Vertices are those of the piece, and of the DAG that lie behind it, as pairs: whose, number.
    """

    def __init__(self, dag: Dag, piece: Piece) -> None:
        self._dag, self._piece = dag, piece
        self._place = {node: piece.size + place for place, node in enumerate(piece.known)}

    def cycle(self) -> Steps[list[str]]:
        """Names of the nodes of a cycle, the first again at the end; [] if there is none."""
        done: set[tuple[bool, int]] = set()
        on_path: set[tuple[bool, int]] = set()
        count = 0
        for start in self._piece.dag.vertices():
            vertex = self._meant(start)
            if vertex in done:
                continue
            path, ways = [vertex], [iter(self._after(vertex))]
            on_path.add(vertex)
            while path:
                count += 1
                if not count % OBJECTS:
                    yield
                after = next(ways[-1], None)
                if after is None:
                    ways.pop()
                    on_path.discard(path[-1])
                    done.add(path.pop())
                elif after in on_path:
                    return self._names([*path[path.index(after) :], after])
                elif after not in done:
                    path.append(after)
                    on_path.add(after)
                    ways.append(iter(self._after(after)))
        return []

    def _meant(self, vertex: int) -> tuple[bool, int]:
        """A vertex of the piece; a stand-in is its node in the DAG."""
        count = self._piece.size
        return (False, vertex) if vertex < count else (True, self._piece.known[vertex - count])

    def _after(self, vertex: tuple[bool, int]) -> list[tuple[bool, int]]:
        outside, number = vertex
        if not outside:
            return [self._meant(after) for after in self._piece.dag.successors(number)]
        found = [(True, after) for after in self._dag.successors(number)]
        if number in self._place:
            new = self._piece.dag.successors(self._place[number])
            found += [self._meant(after) for after in new]
        return found

    def _names(self, path: list[tuple[bool, int]]) -> list[str]:
        return [
            (self._dag if outside else self._piece.dag).names[number]
            for outside, number in path
            if number >= 0
        ]
