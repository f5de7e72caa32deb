"""What the stock program does, recorded once for each version of HTCondor.

A test that compares ours with stock says under which name stock's part is kept, and what produces
it:

    def test_exit_codes(access_point: AccessPoint, work: Path, stock: Stock) -> None:
        expected = stock("exit codes", lambda: exit_codes(access_point, work / "stock", STOCK))
        assert plain(exit_codes(access_point, work / "ours", OURS)) == expected

A test run reads the recording, `tests/recordings/VERSION/pool/MODULE.json`, and starts no stock
program.  `python -m tools.record_stock` records anew: it runs these tests with `--record-stock`
several times and keeps what was the same each time.  So a value must not contain what differs from
run to run or from machine to machine: times, job ids, names of directories.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests import recordings


class Stock:
    """What stock does in the tests of one module.

    Args:
        module: the module's name without `test_`.
        record_in: the file for a new recording; None to read the one that there is.
        telltales: texts that a recording must not contain: directories of this machine.
    """

    def __init__(
        self, module: str, record_in: Path | None = None, telltales: tuple[str, ...] = ()
    ) -> None:
        self._module, self._record_in, self._telltales = module, record_in, telltales
        self._known: dict[str, Any] = {} if record_in else recordings.known(file_of(module))

    def part(self, name: str) -> Stock:
        """The same for a part of the module that is large enough for a recording of its own,
        `MODULE/NAME.json`."""
        record_in = self._record_in and self._record_in.with_suffix("") / f"{name}.json"
        return Stock(f"{self._module}/{name}", record_in, self._telltales)

    def __call__(self, name: str, produce: Callable[[], Any]) -> Any:
        """What stock does, as JSON has it; `produce` runs stock, and only to record.

        Raises:
            AssertionError: it has not been recorded, or can't be.
        """
        if self._record_in is not None:
            self._record(name, plain(produce()), self._record_in)
        command = f".venv/bin/python -m tools.record_stock {self._module.partition('/')[0]}"
        assert name in self._known, f"{self._module}.json has no {name!r}: run `{command}`"
        return self._known[name]

    def _record(self, name: str, value: Any, file: Path) -> None:
        text = json.dumps(value)
        found = [word for word in self._telltales if word in text]
        assert not found, f"{name}: a recording must not name {found}"
        assert name not in self._known, f"{name} is recorded already: each needs a name of its own"
        self._known[name] = value
        _write(file, self._known)

    def keep_left(self, name: str, directory: Path, masks: dict[str, str]) -> None:
        """While recording, keep the files that stock left in a directory.

        Nothing is compared: times, ids and the order of events are those of one recording.

        Args:
            masks: what else than the directory must not be in them, and what is there instead.
        """
        assert self._record_in is not None
        paths = sorted(path for path in directory.rglob("*") if path.is_file())
        left = {}
        for path in paths:
            text = path.read_text(errors="surrogateescape")
            for place, mask in {str(directory): "HERE", **masks}.items():
                text = text.replace(place, mask)
            found = [word for word in self._telltales if word in text]
            assert not found, f"{name}: what is left must not name {found}"
            left[str(path.relative_to(directory))] = plain(text)
        _write(self._record_in.parents[1] / recordings.LEFT / f"{name}.json", left)


def _write(file: Path, recording: dict[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(recordings.text_of(recording), encoding="utf-8")


def file_of(module: str) -> str:
    """Where the recording of a module is, in the folder of a version."""
    return f"pool/{module}.json"


def plain(value: Any) -> Any:
    """A value as it comes back from a recording: lists for tuples, texts for keys, lines for text.

    A text of several lines becomes the list of its lines, each with its end.
    """
    if isinstance(value, str):
        return value.splitlines(keepends=True) if "\n" in value else value
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, (set, frozenset)):
        return sorted(map(plain, value))
    return value
