"""Ads that are written for plugins."""

from __future__ import annotations

import pytest

from condor_pydagman.placement.rules import plugin_ads


def test_strings_are_quoted() -> None:
    text = plugin_ads.printed({"Url": 'a"\\\n', "LocalFileName": "/caf\udce9"})
    assert text == '[ Url = "a\\"\\\\\\012"; LocalFileName = "/caf\udce9" ]'


def test_no_zero_bytes() -> None:
    with pytest.raises(ValueError, match="zero byte"):
        plugin_ads.quoted("a\0b")
