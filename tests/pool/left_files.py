"""Directories of DAGs that stock has run, kept while it is recorded.

The tests below `tests/unit` that read them need no pool: they show stock's DAGs to our commands.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tests.pool.access_point import STOCK
from tests.pool.scenes import Scene
from tests.pool.stock import Stock

_KEPT: dict[str, tuple[Path, dict[str, str]]] = {}
_PLACES = re.compile(r"/\S*?/usr/s?bin(?=/)|alias=[^&>\s]*")


def keep_for_later(s: Scene, name: str) -> None:
    """Copy the files of a scene that stock plays, as they are now."""
    if s.flavour != STOCK:
        return
    copy = s.work.with_name(f"{s.work.name}.left")
    shutil.copytree(s.work, copy)
    texts = [path.read_text(errors="replace") for path in copy.rglob("*") if path.is_file()]
    places = {found for text in texts for found in _PLACES.findall(text)}
    masks = {place: "alias=ap" if "=" in place else "/usr/bin" for place in places}
    masks[str(s.access_point.pool.directory)] = "POOL"
    _KEPT[name] = copy, {str(s.work): "HERE", **masks}


def left_by_stock(name: str, stock: Stock) -> None:
    """Keep what was copied of a scene under this name, if stock has played it."""
    if name in _KEPT:
        stock.keep_left(name, *_KEPT[name])
