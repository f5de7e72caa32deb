"""What is added to a DAG that runs: its text, and the DAG that this text gives.

The text is kept whole (`PieceText`), so that a restart reads the same piece again, whatever has
become of the files.  Reading takes a step at a time: the caller has other things to do in between.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import compress
from operator import not_

from condor_pydagman.features.common.inside import leads_inside
from condor_pydagman.features.growth import untrusted
from condor_pydagman.features.growth.commands import PLACE, Feeding, Piece, Scatter, growth_of
from condor_pydagman.graph import build, define
from condor_pydagman.graph.apply import IN_THE_SUBMITTED_FILE, NotSimple, applied
from condor_pydagman.graph.build import DagReader, placed
from condor_pydagman.graph.building import Building, BuildOptions, fail
from condor_pydagman.graph.cycle import find_cycle
from condor_pydagman.graph.grow import numbered
from condor_pydagman.graph.model import NOOP, Dag
from condor_pydagman.graph.problems import MAX_ERRORS, DagFileErrors, ProcessingError
from condor_pydagman.graph.stepwise import OBJECTS, Steps, in_parts
from condor_pydagman.language import commands
from condor_pydagman.language.commands import Command
from condor_pydagman.language.lexer import file_word, item_text, may_begin_macro
from condor_pydagman.language.lines import in_blocks
from condor_pydagman.language.syntax import of_class
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import NO_NODE, ORDINARY_KINDS, NodeKind

# A piece that is being read: a DAG whose lines may name nodes of the DAG that it is to be added to.
#
# Such a node gets a *stand-in* in the piece, which only edges may name.  All other names must be
# new.

_ONLY_AT_THE_START = {
    commands.Dot: "DOT",
    commands.NodeStatusFile: "NODE_STATUS_FILE",
    commands.JobstateLog: "JOBSTATE_LOG",
    commands.NotDone: "NOT_DONE",
}

# What a piece says of its own nodes only, and nobody can say of a node later.
_OF_NEW_NODES: dict[type, str] = {}

ReadText = Callable[[str, int], str]
Begun = Callable[[int], bool]


class PieceDag(Dag):
    """The nodes of a piece; `outer` is the DAG that it is to be added to."""

    def __init__(self, outer: Dag) -> None:
        super().__init__()
        self.outer = outer

    def add_jobs(self, names: Sequence[str], submits: Iterable[str], lines: Iterable[int]) -> bool:
        """As `Dag.add_jobs`; a name of the other DAG is not new."""
        known = self.outer.ids.keys()
        return known.isdisjoint(names) and super().add_jobs(names, submits, lines)


class PieceBuilding(Building):
    """A piece under construction."""

    def __init__(
        self,
        outer: Dag,
        options: BuildOptions,
        begun: Begun,
        *,
        join: int = 0,
        admitted: Callable[[Command], Command] | None = None,
    ) -> None:
        """`join`: see `PieceText`; `admitted`: gives each command as it may be, or refuses it."""
        super().__init__(PieceDag(outer), options)
        self._joins = join
        self.stand_ins: dict[int, int] = {}  # for each stand-in, its node in the other DAG
        self._admitted = admitted
        self._outer = outer
        self._begun = begun
        self._word = ""  # of the command that is applied, if it is one of _OF_NEW_NODES

    def find(self, name: str) -> int | None:
        """The node that the file being read calls `name`, which may be one of the other DAG."""
        node = super().find(name)
        if node is None and self.scope.outer is None:
            full = self.scope.full(name)
            if full not in self.dag.ids:
                self._stand_in(full)
            node = super().find(name)
            if node is None and self.dag.ids.get(full) in self.stand_ins:
                node = self.dag.ids[full]
        return node

    def _stand_in(self, full: str) -> bool:
        """Make a stand-in for a node of the other DAG; false if there is none of that name."""
        known = self._outer.ids.get(full)
        if known is None:
            return False
        node = self.dag.add_node(full, "")
        self.stand_ins[node] = known
        self.dag.flags[node] = self._outer.flags[known] & NOOP  # perhaps it only joins lines
        if self._outer.kinds[known] not in ORDINARY_KINDS:
            self.special.add(node)
            self.dag.kinds[node] = self._outer.kinds[known]
        return True

    def outer_node(self, full: str) -> int:
        """The node of the other DAG of that full name, which is there."""
        return self._outer.ids[full]

    def is_there(self, full: str) -> bool:
        """Whether the other DAG has a node of that full name."""
        return full in self._outer.ids

    def needed(self, name: str) -> int:
        """The node of that name, which must be of this piece."""
        node = super().needed(name)
        if node in self.stand_ins:
            self._refuse(name)
        return node

    def nodes(self, name: str) -> Sequence[int]:
        """As `Building.nodes`, of this piece."""
        found = super().nodes(name)
        if self.stand_ins and found[0] in self.stand_ins:
            self._refuse(name)
        return found

    def _refuse(self, name: str) -> None:
        shown = self.scope.munge + name
        if self._word:
            fail(
                f"{self._word} can't be said of node {shown}, which is in the DAG already",
                "put it into the file that defines the node; here it can be said of new nodes",
                at=name,
            )
        fail(
            f"Node {shown} is in the DAG already: only PARENT lines may name it",
            "condor_pydagman steer set changes such nodes",
            at=name,
        )

    def numbers(self, names: Sequence[str]) -> Sequence[int] | None:
        """As `Building.numbers`, of nodes of this piece; None if one is not, too."""
        found = super().numbers(names)
        if found is None or not self.stand_ins or self.stand_ins.keys().isdisjoint(found):
            return found
        return None

    def all_numbers(self, lists: Iterable[Sequence[str]]) -> list[Sequence[int]] | None:
        """As `Building.all_numbers`, for lists of parents and of their children; they may be of the
        other DAG."""
        found = []
        for place, names in enumerate(lists):
            nodes = self._ends(self.full_names(names))
            if nodes is None or (place and any(map(self._has_begun, nodes))):
                return None
            found.append(nodes)
        return found

    def _ends(self, full: Sequence[str]) -> Sequence[int] | None:
        nodes = self.dag.numbers(full)
        if nodes is not None or self.scope.outer is not None:
            return nodes
        for name in set(full) - self.dag.ids.keys():
            if not self._stand_in(name):
                return None
        return self.dag.numbers(full)

    def _has_begun(self, node: int) -> bool:
        known = self.stand_ins.get(node)
        return known is not None and self._begun(known)

    def defined_at(self, full: str) -> str | None:
        """Where the node of that name is defined, in this piece or in the other DAG."""
        known = self._outer.ids.get(full)
        if known is not None:
            return self._outer.place(known) or "an unknown place"
        return super().defined_at(full)

    def join_name(self) -> str:
        """Full name of the next join node; those of the other DAG have the first numbers."""
        while True:
            name = super().join_name()
            if name not in self._outer.ids:
                return name

    def admit(self, command: Command) -> Command:
        """Refuse what a DAG can only be given when it begins, and what a job may not give it."""
        self._word = _OF_NEW_NODES.get(type(command), "")
        word = _ONLY_AT_THE_START.get(type(command))
        hint = IN_THE_SUBMITTED_FILE
        row = applied(type(command))
        if row is not None:
            self._word = row.of_new
            if row.refused:
                word, hint = of_class(type(command)).word, row.refused
        if isinstance(command, commands.Job) and command.kind not in ORDINARY_KINDS:
            word = NodeKind(command.kind).name
        if word is not None:
            fail(f"{word} can't be added to a DAG that runs", hint, at=word)
        if row is not None and row.refuse is not None:
            row.refuse(command)
        return command if self._admitted is None else self._admitted(command)

    def admit_edges(self, children: Sequence[int]) -> None:
        """Refuse new parents of nodes that have begun."""
        for child in children:
            if self._has_begun(child):
                name = self.dag.names[child]
                fail(
                    f"Node {name} has begun: it can't get another parent",
                    "only nodes that have not begun can wait for new ones",
                    at=name,
                )


_NO_NAME = re.compile(r"[\s\"'\\+{}\x00-\x1f\x7f]")


class PieceText(NamedTuple):
    """All that a piece is made of."""

    file: str  # name of its first file
    texts: Mapping[str, str]  # text of each file that it has been read from, by path
    options: BuildOptions  # how they are read
    directory: str = ""  # of its nodes, unless they have one of their own
    prefix: str = ""  # what the names of its nodes begin with
    node: str = ""  # the node that has added it, '' if a person has
    children: tuple[str, ...] = ()  # nodes before which it stands; if it stands between
    between: bool = False  # whether it stands between `node` and `children`
    feeding: Feeding | None = None  # if the FEEDER has given it
    join: int = 0  # number of its first join node; those of the DAG have lower ones
    untrusted: bool = False  # a job has written it: see `untrusted`


class Texts(dict[str, str]):
    """The files of a piece by path, each read when it is first named; some are known.

    Args:
        read: reads a file of at most so many characters.
        most: characters of all of them.
    """

    def __init__(self, read: ReadText, known: Mapping[str, str], most: int) -> None:
        super().__init__(known)
        self._read, self._left = read, most - sum(map(len, known.values()))

    def __missing__(self, path: str) -> str:
        text = self[path] = self._read(path, max(0, self._left))
        self._left -= len(text)
        return text


def text_of(
    dag: Dag, node: int, texts: Mapping[str, str], options: BuildOptions, begun: Begun, join: int
) -> PieceText:
    """What the EXTEND or SCATTER of a node adds; see `read_piece`."""
    how = growth_of(dag).extensions[node]
    children = dict.fromkeys(dag.children(node)) if how.between else {}
    return PieceText(
        how.file,
        texts,
        options,
        how.directory,
        how.prefix or "",
        dag.names[node],
        tuple(dag.names[child] for child in children if not begun(child)),
        how.between,
        join=join,
        untrusted=not how.trusted,
    )


def scattered(scatter: Scatter, text: str) -> str:
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
        name = _filled(scatter.pattern, values)
        odd = not leads_inside(name) or may_begin_macro(item_text(name))
        bad = odd or _NO_NAME.search(name)
        if bad or len(errors) >= MAX_ERRORS:
            if len(errors) < MAX_ERRORS:
                errors.append(_no_name(scatter, line, item, name))
            continue
        short = _asked_in_vain(scatter, values)
        if short:
            errors.append(placed(short, scatter.file, line, item))
            continue
        jobs.append(f"JOB {name} {file_word(scatter.submit)}")
        if scatter.pairs:
            texts = {key: item_text(value) for key, value in values.items()}
            pairs = " ".join(
                f'{key}="{_quoted(_filled(pattern, texts))}"' for key, pattern in scatter.pairs
            )
            variables.append(f"VARS {name} {pairs}")
    if errors:
        raise DagFileErrors(errors)
    if scatter.retries and any(jobs):
        variables.append(f"RETRY ALL_NODES {scatter.retries}")
    return "\n".join([*jobs, *variables, ""])


def _asked_in_vain(scatter: Scatter, values: Mapping[str, str]) -> ProcessingError | None:
    """What a line has too few words for; None if it has enough."""
    for key, pattern in scatter.pairs:
        for asked in PLACE.findall(pattern):
            if asked not in values:
                words = len(values) - 2
                message = f"VARS {key}={pattern} asks for word {asked} of a line with {words}"
                hint = "add the word to the line, or take the line away"
                return ProcessingError(message, hint=hint)
    return None


def _filled(pattern: str, values: Mapping[str, str]) -> str:
    return PLACE.sub(lambda found: values.get(found[1], found[0]), pattern)


def _quoted(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')


def _no_name(scatter: Scatter, line: int, item: str, name: str) -> ProcessingError:
    words = len(item.split())
    hint = f"the pattern is {scatter.pattern}; {{number}} in it gives names of digits"
    if not leads_inside(name):
        hint = f"as $(JOB) in names of files it would lead out of the DAG's directory; {hint}"
    elif may_begin_macro(item_text(name)):
        hint = f"$(JOB) could become another macro; {hint}"
    elif PLACE.search(name):
        number = f"{words} word{'s' if words > 1 else ''}"
        hint = f"the pattern is {scatter.pattern}, and the line has {number}"
    error = ProcessingError(
        f"'{name}' can't be the name of a node",
        hint=hint,
        at=item,
    )
    return placed(error, scatter.file, line, item)


def read_piece(
    dag: Dag,
    text: PieceText,
    begun: Begun = lambda node: False,
    digest: str = "",
    *,
    named: untrusted.Named | None = None,
) -> Steps[Piece]:
    """The piece of that text, for this DAG.

    `begun`: whether a node of the DAG has begun, so that it can't get another parent; `named`: the
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
        building = PieceBuilding(dag, options, begun, join=text.join, admitted=admitted)
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
    errors = reader.errors.kept
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
        raise DagFileErrors(errors, building.dag.warnings, reader.errors.lost)
    more = yield from numbered(dag, piece.dag, known)
    return piece._replace(numbered=more)


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
        build.complete_features(building)
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
    build.note(building)
    if order != list(range(len(order))):
        yield from piece.renumber_in_steps(order)
    yield
    piece.category_limits, piece.descriptions = scope.limits, scope.descriptions
    known = list(stand_ins.values())
    count = len(order) - len(known)
    for data in piece.all_features():
        data.mean_new(piece, range(count))
    ends = _ends(piece, count) if text.between and count else None
    if text.options.priority:
        define.add_priority(building)
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
    """What commands of new nodes name that they can't, as is known when all edges are."""
    grows = dag.may_grow(but=dag.ids.get(piece.node, NO_NODE))
    errors: list[ProcessingError] = []
    features = sorted(piece.dag.all_features(), key=lambda data: data.place, reverse=True)
    for data in features:
        for wrong in data.mistakes(piece.dag, dag, grows=grows):
            if wrong is None:
                yield
            elif len(errors) < MAX_ERRORS:
                errors.append(wrong)
            else:
                return errors
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
