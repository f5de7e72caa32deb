"""The knobs of site matching: groups of nodes that run at one site."""

from __future__ import annotations

from condor_pydagman.config.knob import integer, text


class SiteKnobs:
    """The rows of the table that are about sites.  Times in seconds."""

    sites_interval: int = integer(
        "PYDAGMAN_SITES_INTERVAL",
        60,
        "How often the collector is asked for sites at most, for all groups of a DAG together; and"
        " how long a site rests at first that a group has left by its SITE_POLICY.",
        1,
        unit="seconds",
        label="",
    )
    sites_dir: str = text(
        "PYDAGMAN_SITES_DIR",
        "Directory (mode 1777) that all users of the access point share, for the claims of sites;"
        " default: one in /var/tmp.",
    )
