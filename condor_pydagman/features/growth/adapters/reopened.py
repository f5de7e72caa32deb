"""A DAG as it has grown: what has been added to it, as the nodes log says."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from condor_pydagman.adapters import files
from condor_pydagman.features.growth.adapters import kept_pieces
from condor_pydagman.features.growth.commands import add_piece, growth_of
from condor_pydagman.graph.model import Dag
from condor_pydagman.names import DagPaths
from condor_pydagman.records.own_events import RecordRead, parse_record

# An event of no job: a job can't write one.
_RECORD = re.compile(rb'008 \(-01\.-01\.-01\) [^\[\n]*(\[ DAGManNote = "GROWN"; .*\])\n')


def reopen(dag: Dag, paths: DagPaths, nodes_log: str) -> None:
    """Add to a DAG, as its files give it, what its last run has added.

    Raises:
        FileError: the text of a piece is missing, or does not fit the DAG.
    """
    pieces = kept_pieces.of(dag, paths)
    known = max((piece.number for piece in growth_of(dag).pieces), default=0)
    for record in _recorded(nodes_log):
        if record.value > known:
            add_piece(dag, pieces[record.text.partition(" ")[0]], record.value)
            known = record.value


def _recorded(nodes_log: str) -> Iterator[RecordRead]:
    try:
        with os.fdopen(files.open_to_read(nodes_log), "rb") as file:
            for line in file:
                found = _RECORD.fullmatch(line)
                read = parse_record(found[1].decode("utf-8", "surrogateescape")) if found else None
                if read is not None:
                    yield read
    except OSError:
        return
