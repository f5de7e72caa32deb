"""The knobs of limits that DAGs share, and of the pace of one DAG."""

from __future__ import annotations

from condor_pydagman.config.knob import integer, text


class LimitKnobs:
    """The rows of the table that are about them."""

    shared_limits: str = text(
        "PYDAGMAN_SHARED_LIMITS",
        "Limits that DAGs of all users of the access point share, for SHARED_LIMIT in DAG files:"
        " NAME = JOBS <n> IDLE <n> PRE <n> POST <n> STARTS-PER-MINUTE <n>; several with semicolons"
        " between them. It counts as the administrator sets it, not as a DAG does.",
    )
    limits_dir: str = text(
        "PYDAGMAN_LIMITS_DIR",
        "Directory (mode 1777) that all users of the access point share, for what their DAGs have"
        " taken of shared limits; default: one in /var/tmp.",
    )
    max_starts_per_minute: int = integer(
        "PYDAGMAN_MAX_STARTS_PER_MINUTE",
        0,
        "Nodes of one DAG submitted in a minute, retries included, at most; 0 is no limit.",
        0,
        high=10**7,
        refused=True,
        label="",
    )
    all_restart_pre_rate: int = integer(
        "PYDAGMAN_ALL_PRE_SCRIPTS_PER_SECOND",
        0,
        "PRE scripts started in a second after a restart, over all DAGs of the access point"
        " together, at most; 0 is no limit. It counts as the administrator sets it.",
        0,
        high=10**5,
        refused=True,
        label="",
    )
