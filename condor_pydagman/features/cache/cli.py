"""`condor_pydagman rescue --take`: a person takes results of nodes with CACHE as they are."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from fnmatch import fnmatchcase

from condor_pydagman.adapters.files import working_directory
from condor_pydagman.adapters.shared_directory import user_name
from condor_pydagman.errors import PydagmanError
from condor_pydagman.features.cache.adapters.outlook import take
from condor_pydagman.features.cache.commands import cached_of
from condor_pydagman.graph.model import DONE
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.monitor.plan import read_dag


def take_results(found: FoundDag, names: Sequence[str], pattern: str) -> tuple[int, list[str]]:
    """Take the results of nodes as they are: of those with these names, or that match; the exit
    code, and lines that say what has become of it.

    Raises:
        PydagmanError: there are no such nodes, or nothing can be taken.
    """
    dag = read_dag(found)
    by_name = {dag.names[node]: node for node in cached_of(dag) if not dag.flags[node] & DONE}
    chosen = names or [name for name in by_name if fnmatchcase(name, pattern)]
    missing = [name for name in chosen or [pattern] if name not in by_name]
    if missing:
        raise PydagmanError(f"there is no node {missing[0]} with CACHE that is not marked DONE")
    who = f"{user_name(os.geteuid())} on {time.strftime('%Y-%m-%d at %H:%M:%S')}"
    with working_directory(found.directory):
        nodes = {by_name[name] for name in chosen}
        of = take(dag, found.paths.cache, nodes, who, is_live=found.is_live)
    lines = []
    for node, (why, refused) in sorted(of.items()):
        what = f"not taken: {refused}" if refused else f"taken as it is, though {why}"
        lines += [f"{dag.names[node]}: {what}"] * bool(why)
    refusals = sum(bool(refused) for _, refused in of.values())
    counts = f"{len(lines) - refusals} taken, {len(of) - len(lines)} had not changed"
    return int(refusals > 0), [*lines, f"{counts}, {refusals} not taken"]
