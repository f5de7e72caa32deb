"""The README as a package index shows it, where a link to a file of ours leads nowhere."""

from __future__ import annotations

import re

_TEXT = r"\[([^\]]*)\]"
_NEAR = r"\((?!\w+:|#)[^)]*\)"  # a path, not an address or a heading of the page itself


def for_an_index(readme: str) -> str:
    """The text of a page without its pictures and links that are relative; their words stay."""
    without_pictures = re.sub(rf"!{_TEXT}{_NEAR}\n*", "", readme)
    return re.sub(_TEXT + _NEAR, r"\1", without_pictures)
