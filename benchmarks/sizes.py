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
        settle: seconds after which an idle DAGMan has nothing more to do: its process for requests
            leaves 20 s after the last one, and it sleeps 60 s after the last event.
        dagmans: how many run at once.
        loads: shapes and nodes of the DAGs that are loaded.
        engine: the DAGs that the engine alone goes through.
        crowd: no-op nodes without edges, of a DAG in which DAGMan's CPU time is measured.
        curve: the DAGs for cost by size.
        huge: one more, which is only loaded.
        held_curve: the same, for bags of held jobs.
        peer_chain: for peers that start processes by themselves.
        peer_bag: the same.
        pool_chain: for the others, whose tasks are jobs of the pool; their bag is `noop`.
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
    crowd: int
    curve: tuple[int, ...]
    huge: int
    held_curve: tuple[int, ...]
    peer_chain: int
    peer_bag: int
    pool_chain: int


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
    settle=90.0,
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
    crowd=100_000,
    curve=(100, 1_000, 10_000, 100_000, 1_000_000),
    huge=10_000_000,
    held_curve=(100, 1_000, 10_000),
    peer_chain=200,
    peer_bag=2000,
    pool_chain=10,
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
    settle=25.0,
    dagmans=5,
    loads=(("vars", 10_000), ("vars", 100_000)),
    recovery=10_000,
    engine=(1_000,),
    crowd=2000,
    curve=(100, 1_000, 10_000),
    huge=100_000,
    held_curve=(100, 1_000),
    peer_chain=50,
    peer_bag=200,
    pool_chain=4,
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
    crowd=10,
    curve=(100,),
    huge=1_000,
    held_curve=(5,),
    peer_chain=3,
    peer_bag=5,
    pool_chain=2,
)
