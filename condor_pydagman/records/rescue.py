"""Rescue files and save files: their text, and which a start uses, renames or writes.

A rescue file is a DAG file that is read after the original one and marks what is done already.
Numbers only: the names come from `names.DagPaths`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from condor_pydagman.engine.node_settings import NodeSettings, retry_in_force
from condor_pydagman.engine.report import NodeReport
from condor_pydagman.errors import UsageError
from condor_pydagman.graph.model import LEFT_OUT, USER_DONE, Dag, Retry
from condor_pydagman.language import commands
from condor_pydagman.language.lexer import node_word
from condor_pydagman.language.modifier_lines import retry_options
from condor_pydagman.language.parser import lines_of
from condor_pydagman.language.syntax import of_class, of_word
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.names import DagPaths
from condor_pydagman.vocabulary import NodeKind, NodeStatus

_NO_LINE = 0


def setting_lines(name: str, settings: NodeSettings) -> Iterator[str]:
    """Lines of a rescue file, newlines included, for what was set but the retries, of which others
    write how many are left."""
    found: list[commands.Command] = []
    if settings.priority is not None:
        found.append(commands.Priority(_NO_LINE, name, settings.priority))
    if settings.timeout is not None:
        timeout = of_word("TIMEOUT")
        assert timeout is not None
        limits = settings.timeout
        for warn, said in (("", limits[:3]), ("WARN", limits[3:])):
            if any(one is not None for one in said):
                found.append(timeout.command(_NO_LINE, name, "", *said, warn))
    if settings.category is not None:
        found.append(commands.Category(_NO_LINE, name, settings.category))
    for variable in settings.variables:
        found.append(commands.Vars(_NO_LINE, name, False, (variable,)))
    for command in found:
        yield lines_of(command, allow_any_node_name_characters=True) + "\n"


FORMAT_VERSION = "2.1.0"

# Kinds of nodes that a rescue file never marks as done: they run in every run of the DAG.
_NEVER_DONE = (NodeKind.FINAL, NodeKind.PROVISIONER, NodeKind.SERVICE)


class Selection(NamedTuple):
    """Which rescue file a start uses."""

    number: int = 0  # 0 if none, or if the file's name is not a numbered one
    file: str = ""  # its name, '' if none is used
    found: str = ""  # how it came to be used, as stock DAGMan says it
    rename: tuple[int, ...] = ()  # numbers of newer files, which get `.old` after their name
    gaps: tuple[int, ...] = ()  # numbers of files whose predecessor is missing; worth a warning
    # name of the save file as the user gave it, '' if a rescue file or none is used
    saved: str = ""


def rescue_text(
    dag: Dag,
    nodes: Iterable[NodeReport],
    *,
    created: Sequence[int],
    reset_retries: bool,
    lines: Iterable[str] = (),
) -> Iterator[str]:
    """Lines of a rescue file, newlines included (manual: "Rescue DAGs").

    Args:
        nodes: every node in order.
        created: broken-down time in GMT, as `time.gmtime` gives it.
        reset_retries: DAGMAN_RESET_RETRIES_UPON_RESCUE; if false, retries left are written.
        lines: what features say of the whole DAG.
    """
    head = ["# Rescue DAG file, created after running\n"]
    head.append(f"#   the {dag.files[0] if dag.files else ''} DAG file\n")
    yield from _text(dag, nodes, head, created, reset_retries)
    yield from (f"{line}\n" for line in lines)


def save_text(
    dag: Dag, nodes: Iterable[NodeReport], node_name: str, created: Sequence[int]
) -> Iterator[str]:
    """Lines of the save file that is written when the node `node_name` starts.

    Retries are always those of the DAG file (manual: "DAG Save Point Files").  For `nodes` and
    `created` see `rescue_text`.
    """
    head = [f"# Save file written at Start Node {node_name}\n"]
    return _text(dag, nodes, head, created, reset_retries=True)


def _text(
    dag: Dag,
    nodes: Iterable[NodeReport],
    head: Iterable[str],
    created: Sequence[int],
    reset_retries: bool,
) -> Iterator[str]:
    marks: list[str] = []
    failed: list[str] = []
    total = done = 0
    for report in nodes:
        kind = dag.kinds[report.node]
        total += kind != NodeKind.SERVICE
        is_failed = report.status == NodeStatus.ERROR and not report.not_needed
        if is_failed and kind != NodeKind.SERVICE:
            failed.append(report.name)
        if report.status == NodeStatus.DONE and not (report.anew or _left_out(dag, report)):
            done += kind != NodeKind.SERVICE
            if kind not in _NEVER_DONE:
                marks.append(f"{_done_word(report)} {node_word(report.name)}\n")
            marks.extend(f"{line}\n" for line in report.rescue_lines)
        elif report.not_needed:
            marks.append(f"NOT_NEEDED {node_word(report.name)}\n")
        elif is_failed and dag.has_weak_children_only(report.node) and kind not in _NEVER_DONE:
            marks.append("# Failed node with only weak child dependencies:\n")
            marks.append(f"DONE {node_word(report.name)}\n")
        elif dag.flags[report.node] & USER_DONE and not _left_out(dag, report):
            marks.append(f"NOT_DONE {node_word(report.name)}\n")
        if report.settings is not None:
            marks.extend(setting_lines(report.name, report.settings))
        if kind not in _NEVER_DONE:
            marks.extend(_retries(dag, report, reset_retries=reset_retries))
    yield from head
    for data in dag.all_features():
        for command in data.first_rescue_lines():
            yield of_class(type(command)).write(command) + "\n"
    yield from _counts(created, total, done, failed)
    yield from marks
    for data in dag.all_features():
        for command in data.rescue_lines():
            yield of_class(type(command)).write(command) + "\n"


def _done_word(report: NodeReport) -> str:
    if report.not_needed:
        return "NOT_NEEDED"
    return "SKIPPED" if report.skipped else "DONE"


def _left_out(dag: Dag, report: NodeReport) -> bool:
    """Whether CHOOSE has left the node out, and no person has run it all the same."""
    return bool(dag.flags[report.node] & LEFT_OUT) and not report.retries_done


def newest(existing: Iterable[int]) -> int:
    """The highest number there is, 0 if there is none."""
    return max(existing, default=0)


def next_number(existing: Iterable[int], maximum: int) -> int:
    """Number of the rescue file to write; 0 if DAGMAN_MAX_RESCUE_NUM (`maximum`) forbids any.

    At the maximum the last file is written over.
    """
    return min(newest(existing) + 1, maximum)


def newer(existing: Iterable[int], number: int) -> tuple[int, ...]:
    """Numbers above `number`: the files to rename when that one is run from."""
    return tuple(sorted(n for n in existing if n > number))


def number_of(file: str, paths: DagPaths) -> int:
    """Number of a rescue file by its name; 0 if it is not a name that DAGMan gives."""
    stem = paths.rescue(0)[: -len("000")]
    digits = file[len(stem) :]
    if file.startswith(stem) and len(digits) >= 3 and digits.isascii() and digits.isdigit():
        return int(digits)
    return 0


def choose(
    existing: Sequence[int],
    paths: DagPaths,
    *,
    rescue_file: str = "",
    load_save: tuple[str, str] = ("", ""),
    rescue_from: int = 0,
    automatic: bool = True,
    maximum: int = 100,
) -> Selection:
    """Which rescue file to run from: -RescueFile, else -load_save, else -DoRescueFrom, else the
    newest there is.

    Args:
        load_save: a save file's name as the user gave it, and its path (`DagPaths.save`).
        existing: numbers of all rescue files there are.
        automatic: whether -AutoRescue (DAGMAN_AUTO_RESCUE) is on.
        maximum: DAGMAN_MAX_RESCUE_NUM; files above it are not looked at.

    Raises:
        UsageError: -DoRescueFrom names a file that is not there.
    """
    if rescue_file:
        number = number_of(rescue_file, paths)
        found = "Rescue DAG file specified"
        return Selection(number, rescue_file, found, newer(existing, number))
    if load_save[0]:
        return Selection(file=load_save[1], saved=load_save[0])
    if rescue_from > 0:
        file = paths.rescue(rescue_from)
        if rescue_from not in existing:
            raise UsageError(
                f"-dorescuefrom {rescue_from} specified, but rescue DAG file {file} does not"
                " exist! Give the number of a file that does, or leave the option out"
            )
        found = f"Rescue DAG number {rescue_from} specified"
        return Selection(rescue_from, file, found, newer(existing, rescue_from))
    usable = sorted(n for n in existing if 1 <= n <= maximum) if automatic else []
    if not usable:
        return Selection()
    number, found = usable[-1], f"Found rescue DAG number {usable[-1]}"
    gaps = tuple(n for n in usable if n > 1 and n - 1 not in usable)
    return Selection(number, paths.rescue(number), found, gaps=gaps)


def preparation_lines(selection: Selection, paths: DagPaths) -> list[str]:
    """What `.dagman.out` says before the DAG files are read: of gaps and of files renamed."""
    lines = [
        f"Warning: Found rescue DAG number {number}, but not rescue DAG number {number - 1}"
        for number in selection.gaps
    ]
    if selection.rename:
        lines.append(f"Renaming rescue DAGs newer than number {selection.number}")
        lines += [f"Renaming {paths.rescue(number)}" for number in selection.rename]
    return lines


def usage_lines(selection: Selection, dag_files: int) -> list[str]:
    """What `.dagman.out` says when the rescue or save file is about to be read; nothing if none.

    `dag_files` is how many DAG files DAGMan was given.
    """
    if not selection.file:
        return []
    if selection.saved:
        return [f"Loading saved progress from {selection.saved} for DAG.", "~" * 54]
    plural = "s" if dag_files > 1 else ""
    return [
        f"{selection.found}; running {selection.file} in combination with normal DAG file{plural}",
        "~" * 54,
        f"USING RESCUE DAG {selection.file}",
    ]


def _counts(created: Sequence[int], total: int, done: int, failed: list[str]) -> Iterator[str]:
    year, month, day, hour, minute, second = created[:6]
    yield f"# Created {month}/{day}/{year} {hour:02d}:{minute:02d}:{second:02d} UTC\n"
    yield f"# Rescue DAG version: {FORMAT_VERSION}\n"
    yield "#\n"
    yield f"# Total number of Nodes: {total}\n"
    yield f"# Nodes premarked DONE: {done}\n"
    yield f"# Nodes that failed: {len(failed)}\n"
    yield "#   " + "".join(name + "," for name in failed) + "<ENDLIST>\n"
    yield "\n"


def _retries(dag: Dag, report: NodeReport, *, reset_retries: bool) -> Iterator[str]:
    """The line that says how many retries are left; with `reset_retries` that of a node for which a
    person has set how many it has."""
    retry = retry_in_force(dag.retries.get(report.node), report.settings)
    was_set = report.settings is not None and report.settings.retries is not None
    if retry is None or not (was_set or (retry.limit > 0 and not reset_retries)):
        return
    left = retry.limit
    if not reset_retries:
        left = max(retry.limit - report.retries_done, 0)
        yield (
            f"# {report.retries_done} of {retry.limit} retries already performed;"
            f" {left} remaining\n"
        )
    options = retry_options(retry_line(report.name, retry))
    yield f"RETRY {node_word(report.name)} {left}{' ' * bool(options)}{options}\n"


def retry_line(name: str, retry: Retry) -> commands.RetryLine:
    """The RETRY line of a node; what is as it is without being said is not in it."""
    return commands.RetryLine(
        _NO_LINE,
        name,
        retry.limit,
        retry.unless_exit or None,
        retry.only_if or None,
        retry.delay or None,
        None if retry.backoff == 1 else retry.backoff,
        retry.max_delay or None,
    )
