"""How much is measured."""

from __future__ import annotations

from dataclasses import dataclass

Numbers = dict[str, list[float]]


@dataclass(frozen=True)
class Sizes:
    """Counts of nodes, unless another thing is said.

    Attributes:
        turns: how often a measurement is repeated in a round, at most.
        submits: how often condor_submit_dag is run.
        idle: seconds of idling.
        settle: seconds after which an idle DAGMan has nothing more to do.
        dagmans: how many run at once.
        loads: shapes and nodes of the DAGs that are loaded.
        engine: the DAGs that the engine alone goes through.
    """

    turns: int
    chain: int
    noop: int
    held: int
    fan: int
    product: int
    workflow: int
    submits: int
    idle: float
    settle: float
    dagmans: int
    loads: tuple[tuple[str, int], ...]
    recovery: int
    engine: tuple[int, ...]


FULL = Sizes(
    turns=8,
    chain=5,
    noop=200,
    held=500,
    fan=1000,
    product=300,
    workflow=60,
    submits=15,
    idle=20.0,
    settle=6.0,
    dagmans=50,
    loads=(
        ("vars", 100_000),
        ("vars", 1_000_000),
        ("bare", 1_000_000),
        ("pegasus", 200_000),
        ("splices", 1_000_000),
        ("product", 10_000),
    ),
    recovery=100_000,
    engine=(1_000, 10_000, 100_000),
)
QUICK = Sizes(
    turns=1,
    chain=2,
    noop=50,
    held=200,
    fan=50,
    product=20,
    workflow=20,
    submits=5,
    idle=5.0,
    settle=6.0,
    dagmans=5,
    loads=(("vars", 10_000), ("vars", 100_000)),
    recovery=10_000,
    engine=(1_000,),
)
SMALLEST = Sizes(
    turns=1,
    chain=2,
    noop=5,
    held=10,
    fan=3,
    product=2,
    workflow=20,
    submits=2,
    idle=0.5,
    settle=1.0,
    dagmans=2,
    loads=(("vars", 1_000), ("product", 100)),
    recovery=1_000,
    engine=(100,),
)
