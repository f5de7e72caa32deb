"""What the tools that record HTCondor's own programs share: a case that varies is not recorded."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests import recordings

if TYPE_CHECKING:
    from tests.pool.access_point import AccessPoint

ROOT = Path(__file__).resolve().parents[1]

Recording = dict[str, Any]


@contextlib.contextmanager
def own_pool() -> Iterator[tuple[AccessPoint, Path]]:
    """A pool as the tests have it, and a directory for its user to work in."""
    from tests.pool.access_point import AccessPoint, new_directory
    from tests.pool.conftest import running_pool  # which knows the knobs of those who record

    (ROOT / "var").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT / "var") as temporary:
        place = Path(temporary)
        place.chmod(0o755)
        with running_pool(place / "pool") as pool:
            yield AccessPoint(pool), new_directory(place / "cases")


def parser(summary: str | None) -> argparse.ArgumentParser:
    """The options that all of these tools have."""
    made = argparse.ArgumentParser(description=(summary or "").partition("\n")[0])
    made.add_argument("--times", type=int, default=3, help="how often each case is recorded")
    made.add_argument("case", nargs="*", metavar="NAME", help="record these alone")
    return made


def chosen(names: Sequence[str], cases: Iterable[str]) -> list[str]:
    """The cases named, or all if none is.

    Raises:
        SystemExit: one is not there.
    """
    there = list(cases)
    for name in names:
        if name not in there:
            like = difflib.get_close_matches(name, there)
            raise SystemExit(f"there is no case {name}" + f"; {' or '.join(like)}?" * bool(like))
    return list(names) or there


def stable(once: Callable[[int], Recording], times: int) -> tuple[Recording, dict[str, str]]:
    """The first of several recordings, `once(N)`; and, by case, how another differs from it."""
    first = once(0)
    varying: dict[str, str] = {}
    for number in range(1, times):
        other = once(number)
        for name in first.keys() | other.keys():
            if first.get(name) != other.get(name):
                pair = ({name: what.get(name)} for what in (first, other))
                told = recordings.difference(*pair, ("first", f"number {number + 1}"))
                varying.setdefault(name, told)
    return first, varying


def keep(
    file: str,
    version: str,
    once: Callable[[int], Recording],
    times: int,
    names: Sequence[str] = (),
) -> int:
    """Record, and write it down for the version if no case varies; returns the exit code.

    With names, the cases that have others are left as they were recorded before.
    """
    found, varying = stable(once, times)
    for name in sorted(varying):
        print(f"{name} varies:\n{varying[name]}")
    if varying:
        print(f"nothing is written: {len(varying)} case(s) vary")
        return 1
    path = recordings.HERE / version / file
    before = json.loads(path.read_text(encoding="utf-8")) if names and path.exists() else {}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(recordings.text_of({**before, **found}), encoding="utf-8")
    print(f"{len(found)} case(s) recorded in {path}")
    return 0
