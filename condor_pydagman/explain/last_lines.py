"""The last lines of files: what failed jobs have written to standard error, and scripts."""

from __future__ import annotations

import os
import re

from condor_pydagman.adapters.followed_files import open_known
from condor_pydagman.errors import PydagmanError
from condor_pydagman.explain.known_facts import Excerpt
from condor_pydagman.follow.failures import Failure
from condor_pydagman.graph.model import Dag
from condor_pydagman.monitor import schedd_queries
from condor_pydagman.monitor.data_node_logs import output_of_worker
from condor_pydagman.monitor.file_facts import shown
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.monitor.job_files import by_description
from condor_pydagman.printable import printable
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED, ScriptKind

MAX_LINES = 5
MAX_LINE_CHARS = 200
MAX_REASON_CHARS = 1000  # of a failed placement: its reason stands at the end of the line
TAIL_BYTES = 4096
WORKER_TAIL_BYTES = 65536
# See placement/attempt_lines.py.
_FAILED = re.compile(r"\S+ \S+ FAILED: ")
_MORE = re.compile(r"\S+ \S+ {5}\S")
_SUM = re.compile(r"\S+ \S+ \d+ placements? done\b")


def excerpt_of(failure: Failure, found: FoundDag, dag: Dag | None) -> Excerpt | None:
    """What the failed job or script of a node has written; None if no file of it is known."""
    node = dag.find(failure.node.name) if dag is not None else None
    if failure.cause == "node.exit" and dag is not None and node is not None:
        output = output_of_worker(found, dag, node)
        if output:
            return failed_placements(output, found.run_by)
    path = ""
    if failure.cause in ("node.pre", "node.post") and dag is not None and node is not None:
        path = _debug_file(failure, found, dag, node)
    if not path and (failure.cause in ("node.exit", "node.signal") or _is_told_by_post(failure)):
        if dag is not None and node is not None:
            path = _error_file(failure, found, dag, node)
        if not path or not os.path.exists(path):
            path = _error_file_of_history(failure, found) or path
    return last_lines(path, found.run_by) if path else None


def _is_told_by_post(failure: Failure) -> bool:
    """Whether the POST script has failed since the job had: with its exit code, as a rule."""
    value = failure.node.attempts[-1].value if failure.node.attempts else 0
    return failure.cause == "node.post" and bool(value) and value != RETURN_JOB_ABORTED


def last_lines(path: str, reader: tuple[int, int]) -> Excerpt:
    """The last lines of a file that somebody else may have made, if this user can read it."""
    name = shown(path)
    lines, problem = _tail(path, TAIL_BYTES, reader)
    shown_lines = (printable(line)[:MAX_LINE_CHARS] for line in lines[-MAX_LINES:])
    return Excerpt(name, tuple(shown_lines), problem)


def failed_placements(path: str, reader: tuple[int, int]) -> Excerpt:
    """What a DATA node's worker printed last about placements that failed for good, with their
    reasons; its last lines, if there is no such line."""
    name = shown(path)
    lines, problem = _tail(path, WORKER_TAIL_BYTES, reader)
    failed = _failures(_of_the_last_worker(lines))[-MAX_LINES:]
    if not failed:
        return Excerpt(name, tuple(map(_shortened, lines[-MAX_LINES:])), problem)
    told = (_shortened(line) for one in failed for line in one)
    return Excerpt(name, tuple(told), what="what failed:")


def _failures(lines: list[str]) -> list[list[str]]:
    """Those about placements that failed for good, with the lines that go on after each."""
    found: list[list[str]] = []
    is_part = False
    for line in lines:
        is_part = is_part and bool(_MORE.match(line))
        if is_part:
            found[-1].append(line)
        elif _FAILED.match(line):
            is_part = True
            found.append([line])
    return found


def _of_the_last_worker(lines: list[str]) -> list[str]:
    """Lines of the attempt at the node that ended last: each ends with a sum."""
    ends = [number for number, line in enumerate(lines) if _SUM.match(line)]
    if not ends or ends[-1] != len(lines) - 1:  # it ended otherwise: earlier ones do not tell why
        return []
    return lines[ends[-2] + 1 :] if len(ends) > 1 else lines


def _shortened(line: str) -> str:
    line = printable(line)
    return line if len(line) <= MAX_REASON_CHARS else line[:MAX_REASON_CHARS] + " ..."


def _tail(path: str, size: int, reader: tuple[int, int]) -> tuple[list[str], str]:
    """Lines at the end of a file, without empty ones; or why there are none."""
    try:
        with open_known(path, reader) as file:
            file.seek(max(os.fstat(file.fileno()).st_size - size, 0))
            text = file.read(size).decode("utf-8", "surrogateescape")
    except PydagmanError:
        return [], "is not a regular file"
    except OSError as error:
        return [], f"can't be read: {error.strerror}"
    if _is_binary(text):
        return [], "is no text"
    return [line for line in text.split("\n") if line.strip()], ""


def _is_binary(text: str) -> bool:
    """Whether it has a byte of 0, or a third of it or more can't be shown; fewer are of text in
    another encoding."""
    odd = sum(not (one.isprintable() or one.isspace() or one == "\x1b") for one in text)
    return "\0" in text or 3 * odd > len(text)


def _error_file(failure: Failure, found: FoundDag, dag: Dag, node: int) -> str:
    """`error` of the node's submit description as it is now; '' if that can't be told."""
    attempt = failure.node.attempts[-1]
    output = output_of_worker(found, dag, node)
    if output:
        return output
    jobs = by_description(found, dag, node, attempt)
    return jobs[0].files.get("error", "") if jobs else ""


def _error_file_of_history(failure: Failure, found: FoundDag) -> str:
    attempt = failure.node.attempts[-1]
    if found.schedd_problem or not attempt.cluster or attempt.noop:
        return ""  # the error file of a bundle is that of its runner
    try:
        ad = schedd_queries.ended_job(
            attempt.cluster, attempt.proc, ("Err", "Iwd", "DAGNodeName"), attempt.submitted
        )
    except PydagmanError:
        return ""
    if not schedd_queries.is_job_of(ad, failure.node.name):
        return ""
    path = str(ad.get("Err", ""))
    return os.path.join(str(ad.get("Iwd", "")), path) if path not in ("", os.devnull) else ""


def _debug_file(failure: Failure, found: FoundDag, dag: Dag, node: int) -> str:
    """The file that SCRIPT DEBUG names."""
    kind = ScriptKind.PRE if failure.cause == "node.pre" else ScriptKind.POST
    script = dag.script(node, kind)
    if script is None or not script.debug_file:
        return ""
    return os.path.join(found.directory, dag.directories.get(node, ""), script.debug_file)
