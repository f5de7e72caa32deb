"""The files that the page shows: only those that DAGMan, the DAG or a job of it names, in pieces.

Somebody else may have made them, and they may grow.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

from condor_pydagman.adapters.files import rescue_numbers
from condor_pydagman.adapters.followed_files import open_known
from condor_pydagman.errors import FileError
from condor_pydagman.follow.run_model import Attempt
from condor_pydagman.graph.model import Dag
from condor_pydagman.monitor.data_node_logs import output_of_worker
from condor_pydagman.monitor.file_facts import shown
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.monitor.job_files import by_description
from condor_pydagman.printable import printable
from condor_pydagman.records.rescue import newest
from condor_pydagman.vocabulary import ScriptKind
from condor_pydagman.web.access import Refused
from condor_pydagman.web.dag_reader import DagReader

MAX_BYTES = 256 << 10  # of an answer
_CONTROLS = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_MAX_SEQUENCE = 4  # bytes of a character in UTF-8
MAX_EARLIER = 5  # attempts
_OF_NODE = re.compile(
    r"((?:output|error|log)(?:-[0-9]{1,9})?|script-pre|script-post|script-hold):([0-9]{1,9})"
)
_KNOWN = "dagman.out, metrics, rescue, output:NUMBER or error:NUMBER"


def path_of(reader: DagReader, what: str) -> str:
    """The path of a file that is asked for by a word.

    Raises:
        Refused: there is none of that kind.
    """
    found = reader.found
    of_node = _OF_NODE.fullmatch(what)
    if of_node is not None:
        return _file_of_node(reader, int(of_node[2]), of_node[1])
    if what == "dagman.out":
        return found.out
    if what == "metrics":
        return found.paths.metrics
    if what == "rescue":
        number = newest(rescue_numbers(found.paths))
        if not number:
            raise Refused(404, "the DAG has no rescue file")
        return os.path.join(found.directory, found.paths.rescue(number))
    raise Refused(400, f"file is one of {_KNOWN}")


def _file_of_node(reader: DagReader, number: int, kind: str) -> str:
    """The path of a file that a node's jobs or scripts write."""
    reader.check(number)
    dag, attempts = reader.dag, reader.attempts(number)
    files = files_of_node(reader.found, dag, number, attempts) if dag is not None else {}
    if kind not in files:
        raise Refused(404, f"the DAG names no {kind} file of this node")
    return files[kind]


def files_of_node(
    found: FoundDag, dag: Dag, node: int, attempts: Sequence[Attempt]
) -> dict[str, str]:
    """Absolute paths of what a node's jobs and scripts write, as its submit description names them
    now, by kind: `output`, `error`, `log`, and `script-pre`, `script-post`, `script-hold` for what
    SCRIPT DEBUG names; `output-1` of attempt 1, if it has a file of its own.  They need not exist.

    Only for a process of one thread that depends on the working directory.

    Args:
        attempts: the files of whose first jobs are told; none if the node has not been started.
    """
    jobs = by_description(found, dag, node, attempts[-1] if attempts else None)
    files = dict(jobs[0].files) if jobs else {}
    for attempt in reversed(attempts[-MAX_EARLIER - 1 : -1] if files else ()):
        jobs, known = by_description(found, dag, node, attempt), set(files.values())
        of_it = jobs[0].files if jobs else {}
        apart = {kind: path for kind, path in of_it.items() if path not in known}
        if not apart:
            break
        files.update({f"{kind}-{attempt.number + 1}": path for kind, path in apart.items()})
    worker = output_of_worker(found, dag, node)
    if worker:
        files["output"] = worker
    return {**files, **dict(_of_scripts(found, dag, node))}


def _of_scripts(found: FoundDag, dag: Dag, node: int) -> Iterator[tuple[str, str]]:
    directory = os.path.join(found.directory, dag.directories.get(node, ""))
    for kind in ScriptKind:
        script = dag.script(node, kind)
        if script is not None and script.debug_file:
            yield f"script-{kind.name.lower()}", os.path.join(directory, script.debug_file)


def piece_of(path: str, begin: int, reader: tuple[int, int]) -> dict[str, Any]:
    """A piece of a file.

    Args:
        begin: offset, bytes; negative for so many bytes before the end.
        reader: user and group; what they can't read is refused.

    Raises:
        Refused: there is no such file, it can't be read, or it is none that has text.
    """
    name = printable(shown(path))
    try:
        with open_known(path, reader) as file:
            size = os.fstat(file.fileno()).st_size
            again = begin > size
            first = max(size + begin, 0) if begin < 0 else begin
            first = max(size - MAX_BYTES, 0) if again else first
            file.seek(first)
            data = file.read(MAX_BYTES)
    except FileNotFoundError:
        raise Refused(404, f"{name} does not exist yet") from None
    except FileError:
        raise Refused(403, f"{name} is not a regular file") from None
    except OSError as error:
        raise Refused(403, f"{name} can't be read: {error.strerror}") from None
    if first and (begin < 0 or again):
        skipped = _continuation(data)
        first, data = first + skipped, data[skipped:]
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    text = _CONTROLS.sub("\ufffd", decoder.decode(data))
    to = first + len(data) - len(decoder.getstate()[0])  # the rest of a character is still to come
    return {"from": first, "to": to, "size": size, "text": text, "again": again}


def _continuation(data: bytes) -> int:
    """How many bytes at the begin belong to a character before."""
    head = data[: _MAX_SEQUENCE - 1]
    return len(head) - len(head.lstrip(bytes(range(0x80, 0xC0))))
