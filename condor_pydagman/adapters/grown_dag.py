"""A DAG as it has grown: what the nodes log says has been added to it, from the kept texts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from condor_pydagman.adapters import kept_pieces, own_files
from condor_pydagman.errors import PydagmanError
from condor_pydagman.graph.model import Dag
from condor_pydagman.graph.piece import add_piece
from condor_pydagman.names import DagPaths
from condor_pydagman.records.own_events import parse_record
from condor_pydagman.vocabulary import JournalRecord

# An event of no job: a job can't write one.
_RECORD = re.compile(rb'008 \(-01\.-01\.-01\) [^\[\n]*(\[ DAGManNote = "GROWN"; .*\])\n')


def add_grown(dag: Dag, paths: DagPaths, nodes_log: str) -> None:
    """Add to a DAG, as its files give it, what its last run has added.

    Raises:
        PydagmanError: the text of a piece is missing.
    """
    if not os.path.exists(paths.grown):
        return
    pieces, known = kept_pieces.of(dag, paths), {piece.number for piece in dag.pieces}
    for number, digest in _recorded(nodes_log):
        if number in known:
            continue
        piece = pieces.get(digest)
        if piece is None:
            raise PydagmanError(f"{paths.grown} lacks what was added to the DAG as number {number}")
        add_piece(dag, piece, number)
        known.add(number)


def _recorded(nodes_log: str) -> Iterator[tuple[int, str]]:
    try:
        with os.fdopen(own_files.open_to_read(nodes_log), "rb") as file:
            for line in file:
                found = _RECORD.fullmatch(line)
                read = parse_record(found[1].decode("utf-8", "surrogateescape")) if found else None
                if read is not None and read.record is JournalRecord.GROWN:
                    yield read.value, read.text.partition(" ")[0]
    except OSError:
        return
