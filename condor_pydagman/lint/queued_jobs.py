"""What a queue statement sets for each of its jobs, as far as a text tells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import zip_longest

from condor_pydagman.language.description import Items, Queue

_COUNT_AND_NAMES = re.compile(r"\s*(\d*)\s*(.*)", re.DOTALL)
_BETWEEN = re.compile(r"\s*,[\s,]*|\s+")
MAX_ITEMS = 10_000  # that are looked at
_ODD = re.compile('["$\x1f]')


def jobs_of(queue: Queue, read: Callable[[str], str]) -> Iterator[dict[str, str]]:
    """The macros that a queue statement sets for each job; one job without any if that is more
    than a text tells.

    Args:
        read: gives the text of a file of items.
    """
    items = queue.items
    found = _COUNT_AND_NAMES.fullmatch(items.names if items else queue.arguments)
    rows = [""] if items is None else _rows(items, queue.listed or "", read)
    is_plain = queue.listed is not None and (items is None or items.slice is None)
    if found is None or not is_plain or _ODD.search("\n".join((queue.arguments, *rows))):
        yield {}
        return
    each, names = int(found[1] or 1) or 1, _BETWEEN.split(found[2].strip().lower())
    for number, row in enumerate(rows):
        values = _BETWEEN.split(row, len(names) - 1) if len(names) > 1 else [row]
        of_item = dict(zip_longest(names, values, fillvalue=""))
        for process in map(str, range(number * each, (number + 1) * each)):
            yield {**of_item, "process": process, "procid": process}


def _rows(items: Items, listed: str, read: Callable[[str], str]) -> list[str]:
    """The first items, each as it is written."""
    source = items.source
    text = "\n".join((source.strip("()"), listed))
    if not items.is_list:
        return text.replace(",", " ").split(None, MAX_ITEMS)[:MAX_ITEMS]
    if not source.startswith("("):
        text = read(source)
    lines = map(str.strip, text.split("\n", MAX_ITEMS)[:MAX_ITEMS])
    return [line for line in lines if line and not line.startswith("#")]
