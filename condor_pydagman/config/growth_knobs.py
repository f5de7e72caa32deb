"""The knobs of DAGs that grow while they run."""

from __future__ import annotations

from condor_pydagman.config.knob import integer


class GrowthKnobs:
    """The rows of the table that are about what is added to a DAG that runs."""

    max_grown_nodes: int = integer(
        "PYDAGMAN_MAX_GROWN_NODES",
        2_000_000,
        "How many nodes a DAG can grow to while it runs; 0: no limit. See docs/growth.md.",
        0,
        label="",
    )
    kept_grown_nodes: int = integer(
        "PYDAGMAN_KEPT_GROWN_NODES",
        100_000,
        "How many nodes are kept that were added to a DAG while it runs and are done; when there"
        " are more, the first of them are let go. 0: all are kept. See docs/growth.md.",
        0,
        label="",
    )
    max_piece_mb: int = integer(
        "PYDAGMAN_MAX_PIECE_MB",
        200,
        "How large a text can be that is added to a DAG at once, with all files that it names.",
        1,
        unit="MB",
        label="",
    )
