"""Reads the descriptions of nodes: their tasks, and which of them can go together."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from condor_pydagman.adapters import files
from condor_pydagman.adapters.bindings import expanded
from condor_pydagman.engine.node_settings import variables_in_force
from condor_pydagman.errors import FileError
from condor_pydagman.features.bundle.messages import Look
from condor_pydagman.features.bundle.tasks import (
    NO_FILE,
    NOT_READ,
    CannotBundle,
    Description,
    NodeOrder,
    Task,
    described,
    packable,
)
from condor_pydagman.named_tuple import NamedTuple

if TYPE_CHECKING:
    from condor_pydagman.graph.model import Dag, Variable

MAX_KNOWN = 256  # submit files that are kept as they were read
_ADDED = re.compile(r"([\w.]+)\s*=")  # in the knob


class LookOrder(NamedTuple):
    """Look at nodes."""

    nodes: Sequence[NodeOrder]
    texts: Mapping[str, str]  # the descriptions in the DAG file that they name
    followers: int = 0  # how many of the nodes, the first ones, may run behind others


def look_order(
    dag: Dag, cwd: str, nodes: Iterable[tuple[int, int, int, Sequence[tuple[str, str]]]]
) -> LookOrder:
    """All that is to be known of nodes, beside their submit files.

    Args:
        nodes: with each the number of its run, its priority, and VARS that a person has set.
    """
    orders = []
    for node, retry, priority, settings in nodes:
        variables: Sequence[Variable] = dag.variables.get(node, ())
        if settings:
            variables = variables_in_force(variables, settings)
        orders.append(
            NodeOrder(
                node,
                dag.names[node],
                retry,
                os.path.join(cwd, dag.directories.get(node, "")),
                dag.submits[node],
                [(one.key, one.value) for one in variables if not one.append],
                [(one.key, one.value) for one in variables if one.append],
                [priority],
            )
        )
    named = {order.submit for order in orders} & dag.descriptions.keys()
    return LookOrder(orders, {name: dag.descriptions[name] for name in named})


def added_commands() -> frozenset[str]:
    """Commands of submit descriptions that the access point has beside HTCondor's."""
    text = expanded("EXTENDED_SUBMIT_COMMANDS")
    return frozenset(name.lower() for name in _ADDED.findall(str(text or "")))


class Looker:
    """Reads descriptions, each once while its file is as it was.

    Args:
        commands: as of `packable`.
        read: gives the text of a submit file.
    """

    def __init__(
        self, commands: Collection[str] = (), read: Callable[[str], str] = files.read_text
    ) -> None:
        self._commands, self._read = commands, read
        self._known: dict[str, tuple[tuple[int, int], Description, str]] = {}

    def look_at(self, order: LookOrder, *, ready: bool = True) -> list[Look]:
        """What is found of each node; if it is not `ready`, its inputs may not be there yet."""
        return [
            self._look(node, order.texts, ready and place >= order.followers)
            for place, node in enumerate(order.nodes)
        ]

    def _look(self, node: NodeOrder, texts: Mapping[str, str], ready: bool) -> Look:
        try:
            kind, task = self.task_of(node, texts)
            if ready:
                for path in task.sources:
                    if not os.access(path, os.R_OK):
                        raise CannotBundle(f"{NO_FILE}: {path}")
        except (CannotBundle, FileError) as error:
            return Look(node.number, "", str(error))
        except OSError as error:
            return Look(node.number, "", f"{NOT_READ}: {error.strerror}")
        return Look(node.number, kind, is_live=not task.transfers_files)

    def task_of(self, node: NodeOrder, texts: Mapping[str, str]) -> tuple[str, Task]:
        """The kind of a node, and its task.

        Raises:
            CannotBundle: it has to run alone.
            OSError, FileError: its submit file can't be read.
        """
        return packable(self.read(node, texts)[0], node, self._commands)

    def read(self, node: NodeOrder, texts: Mapping[str, str]) -> tuple[Description, str]:
        """The description of a node, and its text; raises OSError, FileError as above."""
        text = texts.get(node.submit)
        path, sign = node.submit, (0, len(text or ""))
        if text is None:
            path = os.path.join(node.directory, node.submit)
            info = os.stat(path)
            sign = info.st_mtime_ns, info.st_size
        known = self._known.get(path)
        if known is None or known[0] != sign or (text is not None and known[2] != text):
            if len(self._known) >= MAX_KNOWN:
                self._known.clear()
            text = self._read(path) if text is None else text
            known = self._known[path] = sign, described(text), text
        return known[1], known[2]

    def file_of(self, node: NodeOrder, texts: Mapping[str, str]) -> tuple[str, int, int] | None:
        """The file that the description of a node was read from, with its time of change, in
        nanoseconds, and its size; None if it stands in the DAG file."""
        path = os.path.join(node.directory, node.submit)
        return None if node.submit in texts else (path, *self._known[path][0])
