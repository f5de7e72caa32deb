"""The knobs of data placement: the workers of DATA nodes and `condor_pydagman transfer` obey them.

DAGMan reads them with its own, a DAG's CONFIG file included, and passes them on to its workers.
"""

from __future__ import annotations

from typing import Any

from condor_pydagman.config.knob import DAGMAN, TRANSFER, boolean, integer, text

_MORE: dict[str, Any] = {"programs": (DAGMAN, TRANSFER), "label": ""}


class PlacementKnobs:
    """The rows of the table that are about data placement.  Times in seconds."""

    placement_ways: str = text(
        "PYDAGMAN_PLACEMENT_WAYS",
        "Which ways from one URL to another are looked at, in order.",
        default="module, direct, plugin, cache",
        **_MORE,
    )
    placement_modules: str = text(
        "PYDAGMAN_PLACEMENT_MODULES",
        "Directories of the site's modules, stork.transfer.http-file and the like; default:"
        " HTCondor's LIBEXEC.",
        **_MORE,
    )
    placement_dir: str = text(
        "PYDAGMAN_PLACEMENT_DIR",
        "Directory (mode 1777) that all users of the access point share, for the limits on"
        " placements and the ledgers of allocations; default: one in /var/tmp.",
        **_MORE,
    )
    placement_max: int = integer(
        "PYDAGMAN_PLACEMENT_MAX",
        10,
        "Placements at once, over all DAGs and users of the access point; 0 is no limit.",
        0,
        **_MORE,
    )
    placement_max_per_host: int = integer(
        "PYDAGMAN_PLACEMENT_MAX_PER_HOST",
        0,
        "Of these, how many with the same host; 0 is no limit.",
        0,
        **_MORE,
    )
    placement_max_per_protocol: int = integer(
        "PYDAGMAN_PLACEMENT_MAX_PER_PROTOCOL",
        0,
        "Of these, how many with the same protocol; 0 is no limit.",
        0,
        **_MORE,
    )
    placement_limits: str = text(
        "PYDAGMAN_PLACEMENT_LIMITS",
        "Limits of single hosts and protocols: data.example.org=4, s3=2.",
        **_MORE,
    )
    placement_streams: int = integer(
        "PYDAGMAN_PLACEMENT_STREAMS",
        4,
        "Placements of one request file at once.",
        1,
        high=64,
        **_MORE,
    )
    placement_max_retries: int = integer(
        "PYDAGMAN_PLACEMENT_MAX_RETRIES",
        10,
        "Attempts of a placement after its first, for faults that may pass.",
        0,
        high=1000,
        **_MORE,
    )
    placement_first_delay: int = integer(
        "PYDAGMAN_PLACEMENT_FIRST_DELAY",
        1,
        "Delay before the second attempt; it doubles each time.",
        0,
        unit="seconds",
        **_MORE,
    )
    placement_max_delay: int = integer(
        "PYDAGMAN_PLACEMENT_MAX_DELAY",
        600,
        "Longest delay before an attempt, and longest rest of a host that fails.",
        0,
        unit="seconds",
        **_MORE,
    )
    placement_connect_timeout: int = integer(
        "PYDAGMAN_PLACEMENT_CONNECT_TIMEOUT",
        20,
        "How long a server may take to accept a connection.",
        1,
        unit="seconds",
        **_MORE,
    )
    placement_stall_timeout: int = integer(
        "PYDAGMAN_PLACEMENT_STALL_TIMEOUT",
        60,
        "A connection that moves no data for so long is broken off.",
        1,
        unit="seconds",
        **_MORE,
    )
    placement_module_timeout: int = integer(
        "PYDAGMAN_PLACEMENT_MODULE_TIMEOUT",
        86400,
        "A module or plugin that takes longer is killed; 0 is no limit.",
        0,
        unit="seconds",
        **_MORE,
    )
    placement_host_rest: int = integer(
        "PYDAGMAN_PLACEMENT_HOST_REST",
        10,
        "For how long a host that fails is left alone by all placements, at first.",
        0,
        unit="seconds",
        **_MORE,
    )
    placement_cache_dir: str = text(
        "PYDAGMAN_PLACEMENT_CACHE_DIR",
        "Directory for transfers in two steps; default: one of the user's in /var/tmp.",
        **_MORE,
    )
    placement_cache_size: str = text(
        "PYDAGMAN_PLACEMENT_CACHE_SIZE",
        "How much a user's transfers in two steps may hold there.",
        default="10 GB",
        **_MORE,
    )
    placement_capacity: str = text(
        "PYDAGMAN_PLACEMENT_CAPACITY",
        "Space that can be allocated, by host, URL or directory: /scratch=500 GB, s3://out=1 TB.",
        **_MORE,
    )
    placement_fsync: bool = boolean(
        "PYDAGMAN_PLACEMENT_FSYNC",
        False,
        "A placement counts as done only when its file is on the disk (fsync).",
        **_MORE,
    )
