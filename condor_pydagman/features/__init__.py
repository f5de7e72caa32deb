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
        of_dag: attributes of a Dag of which one is not empty if the DAG wants it.
        records: names of journal records that the log of any DAG may have, since a person may
            ask for the feature while the DAG runs.
    """

    name: str
    of_dag: tuple[str, ...]
    records: tuple[str, ...] = ()


# In the order in which they have a say; each reason stands in front of what it is about.
FEATURES = (
    Entry("timeout", ("timeouts",)),
    Entry("brake", ("brakes",)),
    Entry("enough", ("enoughs", "has_not_needed")),
    Entry("run_if", ("conditions",)),
    Entry("skipping", ("enoughs", "conditions", "has_skipped", "has_not_needed")),
    Entry("publish", ("published", "results")),
    Entry("growth", ("extensions", "feeder", "pieces"), ("GROWN", "LET_GO")),
    Entry("feeder", ("feeder",)),
)


OF_RECORD = {record: entry.name for entry in FEATURES for record in entry.records}


def home(kind: type) -> str:
    """The name of the feature in whose folder a class is defined; '' if it is in none."""
    before, _, name = kind.__module__.rpartition(".")[0].rpartition(".")
    return name if before == __name__ else ""


def part(name: str, module: str) -> Any:
    """A module of a feature's folder: `run`, with its class for the engine, and others."""
    return import_module(f"{__name__}.{name}.{module}")


def wanted_by(dag: Any) -> Iterator[str]:
    """The names of the features that a `graph.model.Dag` wants, in their order."""
    for entry in FEATURES:
        if any(getattr(dag, name) for name in entry.of_dag):
            yield entry.name
