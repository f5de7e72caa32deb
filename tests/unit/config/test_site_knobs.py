"""The knobs of site matching."""

from __future__ import annotations

from condor_pydagman.config import Config
from condor_pydagman.config.table import SiteKnobs


def test_they_are_in_the_table() -> None:
    found = Config()
    assert set(vars(SiteKnobs)) & set(vars(found)) == {"sites_interval", "sites_dir"}
    assert (found.sites_interval, found.sites_dir) == (60, "")
