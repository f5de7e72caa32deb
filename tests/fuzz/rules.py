"""What must be true of every input: the properties that the fuzzer looks for a breach of."""

from __future__ import annotations

import posixpath
import signal
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from condor_pydagman.errors import DagFileError
from condor_pydagman.features.timeout.commands import timeouts_of
from condor_pydagman.graph import build as building
from condor_pydagman.graph.apply_rescue import apply_progress
from condor_pydagman.graph.build import BuildOptions, DagFileErrors, ReadText, build
from condor_pydagman.graph.cycle import describe_cycle, find_cycle
from condor_pydagman.graph.edges import Edges
from condor_pydagman.graph.model import BY_NODE, LEFT_OUT, Dag, Variable
from condor_pydagman.graph.problems import Errors
from condor_pydagman.language import bulk
from condor_pydagman.language.parser import manager_commands
from condor_pydagman.lint.partial import build_partial
from condor_pydagman.names import logged_name
from condor_pydagman.vocabulary import ORDINARY_KINDS, NodeKind
from tests.fuzz.round_trip import differences, rebuilt
from tests.fuzz.sample import Files, Sample

LONGEST_LINE = 5_000  # characters of one line of a message
LONGEST_DETAIL = 40_000
MOST_WARNINGS = 1_001
MOST_REMARKS = 1_000
MOST_ERRORS = 1_000
MOST_WRITTEN = 60  # nodes of a Dag that is written and built again
SECONDS = 20
RESCUE = "x.dag.rescue001"

_BY_NODE = (*BY_NODE, "variables")
_NOT_PLAIN = {"edges", "variables", "places"}  # compared in their own ways
_PLAIN = [name for name in vars(Dag()) if name not in _NOT_PLAIN and not name.startswith("_")]
_KINDS = frozenset(map(int, NodeKind))
_ONE_ONLY = (NodeKind.FINAL, NodeKind.PROVISIONER)


class BrokenError(AssertionError):
    """A rule is broken; `rule` is its name."""

    def __init__(self, rule: str, what: object = "") -> None:
        super().__init__(f"{rule}: {what}")
        self.rule = rule


def verdict(sample: Sample) -> str:
    """Check all rules on a sample: '' if they hold, else what went wrong, alike for like causes.

    Takes at most SECONDS; main thread only.
    """

    def too_slow(number: int, frame: object) -> None:
        raise BrokenError("is done within seconds")

    before = signal.signal(signal.SIGALRM, too_slow)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        check(sample)
    except BrokenError as broken:
        return broken.rule
    except Exception as error:
        return f"raises {_where(error)}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return ""


def check(sample: Sample) -> str:
    """Check all rules; tells whether it was a Dag.

    Raises:
        BrokenError: one is broken.
    """
    usual, bulk.MIN_LINES = bulk.MIN_LINES, sample.shortest
    try:
        dag, errors = _built(build, sample)
        other, others = _built(_line_by_line, sample)
    finally:
        bulk.MIN_LINES = usual
    if dag is None or other is None:
        _need(dag is other, "runs and lines are accepted alike", (errors, others))
    else:
        _same_dag(dag, other)
    if errors is not None and others is not None:
        _same_errors(errors, others, alone=len(sample.files) == 1 == len(sample.dags))
    for path, text in sample.files.items():
        _check_manager(path, text)
    _check_partly(sample, errors)
    if dag is None:
        return "refused"
    _check_round_trip(dag)
    if sample.progress:
        _check_progress(dag, sample)
    return "accepted"


def _line_by_line(files: Sequence[str], read_text: ReadText, options: BuildOptions) -> Dag:
    return building._build(files, read_text, options, Errors(), in_bulk=False)


def _built(how: Callable[..., Dag], sample: Sample) -> tuple[Dag | None, DagFileErrors | None]:
    files = Files(sample)
    try:
        dag = how(sample.dags, files.read, sample.options)
    except DagFileErrors as errors:
        check_errors(errors, sample, files.asked)
        return None, errors
    check_dag(dag)
    _check_places(dag, sample)
    return dag, None


def _check_partly(sample: Sample, errors: DagFileErrors | None) -> None:
    """What -lint makes of it: a Dag in any case, and errors if DAGMan has any."""
    options = sample.options._replace(strict=0)
    dag, found = build_partial(sample.dags, Files(sample).read, options)
    cycle = find_cycle(dag)
    _need(all(dag.ids[name] == n for n, name in enumerate(dag.names)), "ids are of the names")
    if cycle is not None:
        describe_cycle(dag, cycle)
    if errors is None:
        _need(not found.kept, "what is accepted has no errors", found.kept)
    elif not any("DAGMAN_USE_STRICT" in error.message for error in errors.errors):
        _need(found.kept, "what is refused has errors", errors.detail())


def _check_manager(path: str, text: str) -> None:
    try:
        manager_commands(text, path)
    except DagFileError as error:
        _check_error(error)
        _need(error.file == path, "an error of manager_commands is in that file", error.file)
        _need(1 <= error.line <= _lines(text), "its line is in the file", error.line)


def _check_round_trip(dag: Dag) -> None:
    if len(dag) > MOST_WRITTEN:
        return
    try:
        other = rebuilt(dag)
    except ValueError as error:
        _need("can't be written in a DAG file" in str(error), "a Dag is written or refused", error)
        return
    except DagFileErrors as errors:
        raise BrokenError("a written Dag is read", errors.detail()) from None
    found = differences(dag, other)
    _need(not found, "a written Dag is the same", found)


def _check_progress(dag: Dag, sample: Sample) -> None:
    try:
        progress = apply_progress(dag, sample.progress, RESCUE, sample.options)
    except DagFileErrors as errors:
        _check_many(errors)
        for error in errors.errors:
            _need(error.file == RESCUE, "an error of a rescue file is in it", error.file)
            _need(1 <= error.line <= _lines(sample.progress), "line of a rescue file", error.line)
    else:
        nodes = range(len(dag))
        _need(all(n in nodes for n in (*progress.done, *progress.retries)), "progress has nodes")
        _need(len(set(progress.done)) == len(progress.done), "a node is done once")
    check_dag(dag)


def check_dag(dag: Dag) -> None:
    """The invariants of a finished Dag."""
    count = len(dag)
    sizes = {len(dag.names), len(dag.ids), len(dag.submits), len(dag.kinds), len(dag.flags)}
    _need(sizes == {count}, "arrays are of one length", sizes)
    _need(all(dag.ids[name] == n for n, name in enumerate(dag.names)), "ids are of the names")
    _need(all(dag.names), "names are not empty")
    _need(all(kind in _KINDS for kind in dag.kinds), "kinds are kinds")
    _need(max(dag.flags, default=0) < 2 * LEFT_OUT, "flags are flags")
    for kind in _ONE_ONLY:
        _need(len(dag.of_kind(kind)) <= 1, "there is one FINAL, one PROVISIONER", kind)
    for data in dag.all_features():
        for name in data.by_node:
            _need(
                getattr(data, name).keys() <= set(range(count)),
                "what features say is about nodes",
                name,
            )
    for name in _BY_NODE:
        keys = list(getattr(dag, name))
        _need(all(0 <= key < count for key in keys), "keys are nodes", name)
        _need(len(keys) == len(set(keys)), "keys are unique", name)
        _need(len(keys) == len(getattr(dag, name)), "a dictionary knows its length", name)
    for variables in dag.variables.values():
        _need(all(type(variable) is Variable for variable in variables), "variables are such")
        keys = [variable.key for variable in variables]
        _need(keys and len(keys) == len(set(keys)), "a variable is there once", keys)
    for retry in dag.retries.values():
        _need(0 not in retry.unless_exit + retry.only_if, "0 is no failure", retry)
        numbers = (retry.limit, retry.delay, retry.backoff - 1, retry.max_delay)
        _need(min(numbers) >= 0, "numbers of RETRY are in their ranges", retry)
    for timeout in timeouts_of(dag).values():
        _need(min(timeout) >= 0 < max(timeout), "a TIMEOUT limits something", timeout)
    _need(all(limit >= 0 for limit in dag.category_limits.values()), "limits are 0 or more")
    for name in dag.names:
        _need(dag.find(logged_name(name)) is not None, "a node of the log is found", name)
    check_edges(dag)
    _check_splices(dag)
    _check_texts(dag.warnings, MOST_WARNINGS)
    _check_texts(map(str, dag.remarks), MOST_REMARKS)
    cycle = find_cycle(dag)
    if cycle is not None:
        describe_cycle(dag, cycle)


def check_edges(dag: Dag) -> None:
    """Parents and children say the same, and junctions are between nodes."""
    count = len(dag)
    junctions = dag.vertex_count - count
    arrivals: Counter[int] = Counter()
    for vertex in dag.vertices():
        near = dag.successors(vertex)
        _need(len(set(near)) == len(near), "an edge is there once", vertex)
        _need(len(near) == dag.edges.successor_count(vertex), "children are counted", vertex)
        _need(all(-junctions <= head < count for head in near), "edges have ends", vertex)
        _need(vertex >= 0 or min(near) >= 0, "a junction leads to nodes", vertex)
        arrivals.update(near)
    for vertex in dag.vertices():
        _need(dag.predecessor_count(vertex) == arrivals[vertex], "parents are counted", vertex)
        _need(vertex >= 0 or arrivals[vertex], "a junction has parents", vertex)
    down = Counter((node, child) for node in range(count) for child in dag.children(node))
    up = Counter((parent, node) for node in range(count) for parent in dag.parents(node))
    _need(down == up, "children and parents are symmetric", (down - up, up - down))
    for parent, child in down:
        kinds = {NodeKind(dag.kinds[parent]), NodeKind(dag.kinds[child])}
        _need(kinds <= ORDINARY_KINDS, "only ordinary nodes have edges", (parent, child))
        weak = dag.is_weak(parent, child)
        _need(not weak or dag.edges.any_weak, "a weak edge is known", (parent, child))


def check_errors(errors: DagFileErrors, sample: Sample, asked: set[str]) -> None:
    """Every error is in a file that was read, and can be shown."""
    _check_many(errors)
    for error in errors.errors:
        if sample.options.strict > 1 and "DAGMAN_USE_STRICT" in error.message and not error.line:
            continue  # a warning about the whole DAG
        paths = [path for path in asked if _is_called(path, error.file)]
        _need(bool(paths), "an error has a file that was asked for", (error.file, str(error)))
        if not error.line:
            opening = ("Failed to open", "Failed to change", "Recursive DAG", "More than")
            _need(error.message.startswith(opening), "an error has a line", str(error))
            continue
        lines = max((_lines(sample.files.get(path, "")) for path in paths), default=0)
        _need(1 <= error.line <= lines, "an error's line is in its file", (error.line, str(error)))
        _need(1 <= error.place <= lines, "an error's place is in its file", str(error))


def _check_many(errors: DagFileErrors) -> None:
    _need(0 < len(errors.errors) <= MOST_ERRORS, "errors are some, not too many")
    _need(errors.lost >= 0, "errors lost are counted")
    for error in errors.errors:
        _check_error(error)
    _check_text(str(errors), LONGEST_LINE, "the message of all errors")
    _check_texts(errors.warnings, MOST_WARNINGS)
    _check_text(errors.detail(), 21 * LONGEST_DETAIL, "the detail of all errors")


def _check_error(error: DagFileError) -> None:
    what = type(error).__name__
    _check_text(str(error), LONGEST_LINE, f"str() of a {what}")
    _check_text(error.detail(), LONGEST_DETAIL, f"detail() of a {what}")
    _check_text(error.text, LONGEST_LINE, f"the text of a {what}")
    _need(0 <= error.caret <= len(error.text) + 1, "the caret is under the text", error.caret)


def _check_texts(texts: Iterable[str], most: int) -> None:
    texts = list(texts)
    _need(len(texts) <= most, "warnings are not too many", len(texts))
    for text in texts:
        _check_text(text, 2 * LONGEST_LINE, "a warning")


def _check_text(text: str, longest: int, what: str) -> None:
    _need(len(text) <= longest, f"{what} is not too long", len(text))
    _need(text.replace("\n", "").isprintable(), f"{what} is printable", text)


def _check_places(dag: Dag, sample: Sample) -> None:
    for node in range(len(dag)):
        place = dag.place(node)
        if place:
            path, _, line = place.rpartition(":")
            text = sample.files.get(posixpath.normpath(path))
            _need(text is not None, "a node is defined in a file", place)
            _need(1 <= int(line) <= _lines(text or ""), "a node is defined on a line", place)


def _check_splices(dag: Dag) -> None:
    open_ends = [(len(dag), "")]
    for splice in dag.splices:
        while splice.begin >= open_ends[-1][0] and len(open_ends) > 1:
            open_ends.pop()
        _need(0 <= splice.begin <= splice.end <= len(dag), "a splice holds nodes", splice)
        names = dag.names[splice.begin : splice.end]
        inside = all(name.startswith(splice.name + "+") for name in names)
        _need(inside, "nodes of a splice are called by it", (splice, names))
        if splice.end > splice.begin:
            _need(splice.end <= open_ends[-1][0], "splices nest", dag.splices)
            open_ends.append((splice.end, splice.name))


def _same_dag(dag: Dag, other: Dag) -> None:
    """Reading in runs of lines gives what reading line by line gives."""
    for name in _PLAIN:
        one, two = getattr(dag, name), getattr(other, name)
        _need(one == two, f"runs and lines give the same {name}", (one, two))
    _need(dict(dag.variables) == dict(other.variables), "runs, lines: the same variables")
    _need(_edges(dag.edges) == _edges(other.edges), "runs and lines give the same edges")
    places = [(dag.place(node), other.place(node)) for node in range(len(dag))]
    _need(all(one == two for one, two in places), "runs, lines: the same places", places)


def _same_errors(errors: DagFileErrors, others: DagFileErrors, alone: bool) -> None:
    """All errors are the same if there is one file.  Of several the first error is: what a file
    with errors has said before them may count, or not, for the files after it."""
    one, two = _said(errors), _said(others)
    _need(one[0] == two[0], "runs and lines give the same first error", (one, two))
    if alone:
        _need(one == two, "runs and lines give the same errors", (one, two))
        _need(errors.lost == others.lost, "runs and lines lose as many errors")
        _need(errors.warnings == others.warnings, "runs and lines: errors with the same warnings")


def _edges(edges: Edges) -> object:
    arrows = {vertex: list(edges.successors(vertex)) for vertex in edges.vertices()}
    weak = [[edges.is_weak(tail, head) for head in heads] for tail, heads in arrows.items()]
    return arrows, weak if edges.any_weak else None


def _said(errors: DagFileErrors) -> list[object]:
    return [(str(e), e.file, e.line, e.hint, e.trail) for e in errors.errors]


def _is_called(path: str, file: str) -> bool:
    name = posixpath.normpath(file)
    return path == name or posixpath.basename(path) == name or path.endswith("/" + name) or (
        name.startswith("../") and posixpath.basename(path) == posixpath.basename(name)
    )  # fmt: skip


def _lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n"))


def _need(holds: object, rule: str, what: object = "") -> None:
    if not holds:
        raise BrokenError(rule, what)


def _where(error: BaseException) -> str:
    """The kind of an exception, and the place in the package from which it came."""
    trace, place = error.__traceback__, ""
    while trace is not None:
        code = trace.tb_frame.f_code
        if "condor_pydagman" in code.co_filename or not place:
            place = f"{posixpath.basename(code.co_filename)}:{code.co_name}"
        trace = trace.tb_next
    return f"{type(error).__name__} in {place}"
