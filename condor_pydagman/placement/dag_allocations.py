"""The process that releases what a removed DAG has allocated, or nodes whose group has left its
site; DAGMan starts it.

It says what it does in `DAG.placements/released.out`.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping

from condor_pydagman.adapters.files import open_to_append
from condor_pydagman.data_requests.faults import Fault
from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.data_requests.urls import masked_text
from condor_pydagman.data_requests.work_order import WorkOrder, parse_work_order
from condor_pydagman.names import PLACEMENTS
from condor_pydagman.placement.allocations import Known, Space
from condor_pydagman.placement.way import Surroundings
from condor_pydagman.printable import escaped_line

OUTPUT = "released.out"


class OwnAllocations:
    """The user's allocations.

    Args:
        settings: where the shared directory is.
        say: adds a line to the log.
    """

    def __init__(self, settings: Settings, say: Callable[[str], None]) -> None:
        self._surroundings = Surroundings(settings, os.environ, os.getcwd(), say)
        self._space = Space(settings, say)

    def all(self) -> list[Known]:
        """Those that are in force, the oldest first.

        Raises:
            Fault: they can't be read.
        """
        return self._space.own()

    def of_dag(self, dag: str) -> list[Known]:
        """Those that nodes of this DAG have allocated, and nobody else.

        Raises:
            Fault: they can't be read.
        """
        return [one for one in self.all() if one.dags == (dag,)]

    def release(self, known: Iterable[Known], *, for_now: bool = False) -> bool:
        """Release allocations; whether all are.

        Args:
            for_now: if their DAG goes on, its transfers allocate them again.
        """
        done = True
        for one in known:
            name = f"{one.allocation.allocation_id} of {masked_text(one.allocation.destination)}"
            try:
                self._space.end(one, self._surroundings, for_now=for_now)
                self._surroundings.say(f"released: {name}")
            except Fault as fault:
                done = False
                self._surroundings.say(f"FAILED to release {name}: {fault.reason}")
        return done

    def close(self) -> None:
        """Close what is open."""
        self._space.close()


def main() -> int:
    """Release what the work order on standard input is about; returns the exit code."""
    order = parse_work_order(sys.stdin.read())
    assert isinstance(order, WorkOrder)
    os.environ.update(order.environment)
    own = OwnAllocations(order.settings, lambda text: _say(order.directory, text))
    try:
        dag = order.directory.removesuffix(PLACEMENTS)
        found: Iterable[Known] = own.of_dag(dag)
        if order.left:  # the DAG goes on, and may allocate one of them again meanwhile
            left = [one for one in found if _is_left(one, order.left)]
            found = (one for one in left if one in own.of_dag(dag))
        return int(not own.release(found, for_now=not order.left))
    except Fault as fault:
        _say(order.directory, fault.reason)
        return 1
    finally:
        own.close()


def _is_left(known: Known, left: Mapping[str, float]) -> bool:
    """Whether all nodes that have allocated it have left since: the time, by the node's name."""
    return bool(known.nodes) and all(
        noted < left.get(node, 0) for node, noted in known.nodes.items()
    )


def _say(directory: str, text: str) -> None:
    stamp = time.strftime("%m/%d/%y %H:%M:%S")
    lines = masked_text(text).split("\n")
    data = "".join(f"{stamp} {escaped_line(line)}\n" for line in lines).encode()
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    try:
        fd = open_to_append(os.path.join(directory, OUTPUT), flags, 0o644)
    except OSError:
        return
    try:
        os.write(fd, data)
    except OSError:  # a full disk: what is released is released
        pass
    finally:
        os.close(fd)
