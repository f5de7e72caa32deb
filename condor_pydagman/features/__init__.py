"""What this program can do beyond the stock one, and what few DAGs use: a folder for each ability.

`FEATURES` is the one place outside of its folder that names a feature.  Nothing of it is imported
but for a DAG that wants it.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from condor_pydagman.named_tuple import NamedTuple


class Entry(NamedTuple):
    """A feature.

    Attributes:
        name: of its folder.
        of_dag: attribute of a Dag that is not empty if the DAG wants it.
    """

    name: str
    of_dag: str


# In the order in which they have a say; each reason stands in front of what it is about.
FEATURES = (
    Entry("timeout", "timeouts"),
    Entry("brake", "brakes"),
)


def part(name: str, module: str) -> Any:
    """A module of a feature's folder: `run`, with its class for the engine, and others."""
    return import_module(f"{__name__}.{name}.{module}")


def wanted_by(dag: Any) -> Iterator[str]:
    """The names of the features that a `graph.model.Dag` wants, in their order."""
    return (entry.name for entry in FEATURES if getattr(dag, entry.of_dag))
