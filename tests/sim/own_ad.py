"""DAGMan's own job ad, as the simulated schedd has it."""

from __future__ import annotations

from collections.abc import Mapping

from condor_pydagman.records import own_ad
from condor_pydagman.records.own_ad import ENDED, EXIT_BY_SIGNAL, EXIT_CODE, LIMITS

_WORDS: dict[str, object] = {"true": True, "false": False, "undefined": None}


class OwnAd:
    """One job's; it outlives a DAGMan process."""

    def __init__(self) -> None:
        self._values: dict[str, object] = {own_ad.RUN_COUNT: 0}

    def values(self) -> dict[str, object]:
        return dict(self._values)

    def edit(self, changes: Mapping[str, str]) -> None:
        """Take attributes as texts of expressions."""
        for name, text in changes.items():
            quoted = text.strip('"') if text.startswith('"') else None
            number = int(text) if text.lstrip("-").isdigit() else quoted
            self._values[name] = _WORDS.get(text, number)

    def limits(self) -> dict[str, int]:
        """The throttles that it has."""
        found = {name: self._values.get(name) for name in LIMITS}
        return {name: value for name, value in found.items() if isinstance(value, int)}

    def started(self) -> None:
        """The schedd starts the job (again)."""
        count = self._values[own_ad.RUN_COUNT]
        assert isinstance(count, int)
        self._values[own_ad.RUN_COUNT] = count + 1

    def next_start(self) -> dict[str, object]:
        """What it will say when the job is started."""
        other = OwnAd()
        other._values = dict(self._values)
        other.started()
        return other._values

    def left(self, code: int | None) -> None:
        """The process has ended, with an exit code or killed."""
        self._values[EXIT_BY_SIGNAL] = code is None
        self._values[EXIT_CODE] = code

    def ended(self) -> bool:
        """Whether DAGMan has said that the DAG has ended."""
        return self._values.get(ENDED) is not None
