"""Knobs of data placement to settings."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.data_requests.settings import Settings, settings_of
from condor_pydagman.errors import ConfigError


def test_the_defaults_agree() -> None:
    assert settings_of(Config(), {}.get) == Settings()


def test_lists_and_sizes() -> None:
    config = Config(
        placement_ways="direct plugin",
        placement_limits="data.example.org=4, s3=2",
        placement_capacity="/scratch=500 GB, s3://out=1 TB",
    )
    settings = settings_of(config, {"LIBEXEC": "/libexec", "FILETRANSFER_PLUGINS": "/a, /b"}.get)
    assert settings.ways == ("direct", "plugin")
    assert settings.limits == (("data.example.org", 4), ("s3", 2))
    assert settings.capacities == (("/scratch", 500 << 30), ("s3://out", 1 << 40))
    assert settings.module_directories == ("/libexec",)
    assert settings.plugins == ("/a", "/b")


@pytest.mark.parametrize(
    ("knob", "value", "message"),
    [
        ("placement_ways", "fast", "PYDAGMAN_PLACEMENT_WAYS: 'fast'"),
        ("placement_ways", " ", "PYDAGMAN_PLACEMENT_WAYS"),
        ("placement_limits", "h", "PYDAGMAN_PLACEMENT_LIMITS: 'h' is not like name=value"),
        ("placement_limits", "h=x", "PYDAGMAN_PLACEMENT_LIMITS"),
        ("placement_limits", "h=-1", "negative"),
        ("placement_capacity", "/s=much", "PYDAGMAN_PLACEMENT_CAPACITY"),
        ("placement_cache_size", "x", "PYDAGMAN_PLACEMENT_CACHE_SIZE"),
    ],
)
def test_wrong_values(knob: str, value: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        settings_of(Config(**{knob: value}), {}.get)
