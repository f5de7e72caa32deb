"""Names as identifiers of letters, digits, `-`, `_` and `.`, as WfFormat wants them."""

from __future__ import annotations

import re
from collections.abc import Iterable

_OTHER = re.compile(r"[^0-9a-zA-Z\-_.]")


def plain_ids(names: Iterable[str]) -> dict[str, str]:
    """An identifier for each name, the name itself if it is one; no two are alike."""
    all_names = list(dict.fromkeys(names))
    found = {name: name for name in all_names if name and not _OTHER.search(name)}
    used = set(found)
    for name in all_names:
        if name not in found:
            plain = _OTHER.sub("_", name) or "_"
            found[name] = made = _unused(plain, used)
            used.add(made)
    return found


def _unused(plain: str, used: set[str]) -> str:
    made, number = plain, 1
    while made in used:
        number += 1
        made = f"{plain}-{number}"
    return made
