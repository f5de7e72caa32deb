"""What a node has written, as a value."""

from __future__ import annotations

from typing import Any

from condor_pydagman.cli.copied_file import end_of, without_controls
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.monitor.node_output import Written, output_of_node
from condor_pydagman.monitor.plan import known_plan

MAX_BYTES = 1 << 24  # of all files together


class NodeLogs(Written):
    """What the jobs of a node have written, as `condor_pydagman logs` prints it; printed, the text
    without what could change a terminal, or why there is none.

    Attributes:
        files: absolute paths, each with the jobs that write it, as `CLUSTER.PROC`; none if there is
            nothing yet, or will be nothing.
        why: why there is none, or not all, in a sentence; '' if that is all.
        comes: whether more can come.
        running: whether the attempt has not ended.
        attempt: its number, from 1; None if none has begun.
        reader: user and group; what they can't read is not read.
    """

    __slots__ = ()

    @property
    def text(self) -> str:
        """What is in the files now, one after the other; bytes that are not UTF-8 as codes.

        Of more than 16 MB it is the ends of the files, each behind a line that says so.

        Raises:
            FileError: one of them can't be read.
        """
        return self._data().decode("utf-8", "backslashreplace")

    def _data(self) -> bytes:
        most = max(MAX_BYTES // max(len(self.files), 1), 1)
        return b"".join(end_of(path, self.reader, most) for path in self.files)

    def __str__(self) -> str:
        shown = without_controls(self._data()) if self.files else self.why.encode()
        return shown.decode("utf-8", "backslashreplace")

    def _repr_pretty_(self, printer: Any, _: bool) -> None:
        """For IPython, which prefers what it has for tuples to `_repr_mimebundle_`."""
        printer.text(str(self))


def logs_of(found: FoundDag, node: str, kind: str, attempt: int | None) -> NodeLogs:
    """Those of one attempt of a node; see `NodeOutput`."""
    monitor, output = output_of_node(found, node, kind, known_plan)
    written = output.look(monitor.run, attempt, over=monitor.over)
    return NodeLogs(*written._replace(reader=monitor.found.run_by))
