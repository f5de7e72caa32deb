"""Which files of a DAG the page may show: only those that DAGMan or the DAG names."""

from __future__ import annotations

import os
import re

from condor_pydagman.adapters.files import rescue_numbers
from condor_pydagman.records.rescue import newest
from condor_pydagman.web.access import Refused
from condor_pydagman.web.dag_reader import DagReader
from condor_pydagman.web.node_details import file_of_node

_OF_NODE = re.compile(r"(output|error|log|script-pre|script-post|script-hold):([0-9]{1,9})")
_KNOWN = "dagman.out, metrics, rescue, output:NUMBER or error:NUMBER"


def path_of(reader: DagReader, what: str) -> str:
    """The path of a file that is asked for by a word.

    Raises:
        Refused: there is none of that kind.
    """
    found = reader.found
    of_node = _OF_NODE.fullmatch(what)
    if of_node is not None:
        return file_of_node(reader, int(of_node[2]), of_node[1])
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
