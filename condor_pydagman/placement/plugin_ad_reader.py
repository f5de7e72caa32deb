"""Reads ads that file-transfer plugins write, in both notations, by HTCondor's ClassAds."""

from __future__ import annotations

import re
from typing import Any

from condor_pydagman.placement.rules.plugin_results import Ad, Value

# A plugin is a program of others.  ClassAds follow an expression of 500,000 terms by recursion, and
# the process is gone; this many characters can't.
MAX_CHARACTERS = 1 << 16
_LINE = re.compile(r"\s*[A-Za-z_]\w*\s*=")


def read_ads(text: str) -> list[Ad]:
    """The ads of a text; one alone if it has lines `Name = value`, without those that are none.

    Raises:
        ValueError: it can't be read, or is too long, or HTCondor's Python bindings are missing.
    """
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"it has more than {MAX_CHARACTERS} characters")
    if not text.lstrip().startswith("["):
        text = "\n".join(filter(_LINE.match, text.splitlines()))
    try:
        import classad2  # late: most transfers need no plugin
    except ImportError:
        raise ValueError("ClassAds need HTCondor's bindings (pip install htcondor)") from None
    try:
        ads = [_plain_ad(ad) for ad in classad2.parseAds(text)]
    except (classad2.ClassAdException, ValueError, RuntimeError):
        ads = []
    if text.strip() and not ads:  # of an ad that is cut off it says nothing
        raise ValueError("it is not a ClassAd")
    return ads


def _plain_ad(ad: Any) -> Ad:
    return {name.lower(): _plain(value) for name, value in ad.items()}


def _plain(value: Any) -> Value:
    """A constant; None for what is undefined, or an expression."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if type(value) in (str, int, float, bool):
        found: Value = value
        return found
    return _plain_ad(value) if hasattr(value, "items") else None
