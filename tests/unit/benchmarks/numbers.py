"""Numbers as a run gives them, one for each row of each table."""

from __future__ import annotations

from benchmarks.figures import CURVES, GROUPS, Results
from benchmarks.peers_table import ROWS
from benchmarks.subjects import ALL, BUNDLES, FLOOR, ONE_BY_ONE, PEERS

MEASURED_OF_FLOOR = ("reaction", "held rate", "makespan", "whole", "bag", "no-op rate")
SIZES = (100, 1000)
LOADS = {"load time vars 1000000": [2.0], "load memory vars 1000000": [100.0]}


def everything() -> Results:
    """One number for every row; those of the floor where it has one."""
    names = {row.name for rows in GROUPS.values() for row in rows}
    results: Results = {one: {name: [2.0] for name in names} for one in ALL}
    for numbers in results.values():
        numbers.update(LOADS)
        numbers["engine rate 1000"] = [90_000.0]
        for curve in (curve for curves in CURVES.values() for curve in curves):
            numbers.update({f"{curve.name} {nodes}": [float(nodes)] for nodes in SIZES})
    results[FLOOR] = {
        name: values
        for name, values in results[FLOOR].items()
        if any(word in name for word in MEASURED_OF_FLOOR)
    }
    for one in (*ONE_BY_ONE, *BUNDLES, *PEERS):
        results.setdefault(one, {}).update({row.name: [2.0] for row in ROWS})
    return results
