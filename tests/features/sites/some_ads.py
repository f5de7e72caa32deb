"""Sites for tests: what the collector would have."""

from __future__ import annotations

from typing import Any

import classad2

from condor_pydagman.features.sites.adapters.ads import SiteAd, sites_of


def ad(name: str, most: Any = 2, **more: Any) -> Any:
    """The ad of a site; values that begin with `=` are expressions."""
    made = classad2.ClassAd({"MyType": "PydagmanSite", "Name": name})
    for key, value in {"MaxMatches": most, **more}.items():
        is_expression = isinstance(value, str) and value.startswith("=")
        made[key] = classad2.ExprTree(value[1:]) if is_expression else value
    return made


def site(name: str, most: Any = 2, **more: Any) -> SiteAd:
    """The site of such an ad."""
    (found,) = sites_of([ad(name, most, **more)])
    return found
