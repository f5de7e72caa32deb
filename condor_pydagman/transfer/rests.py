"""Rests of hosts, in files of the shared directory: one for each host and user.

What others say is honoured, but not for ever: somebody might say it to keep others from a host.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable

from condor_pydagman.adapters.shared_directory import SharedDirectory, label
from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.placement.rest_rules import (
    Rest,
    forgotten_after_s,
    newest,
    next_rest,
    read_rest_name,
    rest_name,
)

_LOOK_AGAIN_S = 1.0  # seconds; for a host whose rest nobody of this worker has just waited for


class Rests:
    """What is known of hosts; used by several threads.

    Args:
        settings: `host_rest_s`, `max_delay_s`.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._honoured: dict[str, float] = {}  # label: seconds waited because of other users
        self._known: dict[str, tuple[float, Rest | None]] = {}  # label: when looked at, what counts

    def limits(
        self, names: Iterable[str], shared: SharedDirectory, now: float, looked_at: Iterable[str]
    ) -> dict[str, Rest]:
        """All hosts that rest or are to be tried by one, by their labels, with what is said.

        Args:
            names: of all files.
            looked_at: labels of hosts that the caller wants to know about.
        """
        said: dict[str, list[tuple[Rest, str]]] = {}
        for name in names:
            rest = read_rest_name(name) if name.startswith("rest.") else None
            if rest is not None:
                said.setdefault(rest.label, []).append((rest, name))
        found = {}
        for of, words in said.items():
            counts = self._counting(of, words, shared, now)
            if counts is not None:
                found[of] = counts
        clock = time.monotonic()
        with self._lock:
            for of in looked_at:
                self._known[of] = (clock, found.get(of))
        return found

    def waited(self, labels: Iterable[str], seconds: float) -> None:
        """So long a placement has waited for the ends of these hosts' rests."""
        with self._lock:
            for one in labels:
                self._honoured[one] = self._honoured.get(one, 0) + seconds

    def failed(self, host: str, retry_after_s: float, shared: SharedDirectory) -> Rest:
        """A host has failed: what is said of it from now on.

        Raises:
            OSError: it can't be said to others.
        """
        of, now = label(host), time.time()
        names = shared.names()
        last = self.limits(names, shared, now, [of]).get(of)
        said = self._settings
        rest = next_rest(of, last, now, said.host_rest_s, said.max_delay_s, retry_after_s)
        self._say(rest, names, shared)
        return rest

    def worked(self, host: str, shared: SharedDirectory) -> bool:
        """A host works; whether it was thought to fail.

        Raises:
            OSError: it can't be said to others.
        """
        if self.is_well(host):
            return False
        of = label(host)
        names = shared.names()
        if of not in self.limits(names, shared, time.time(), [of]):
            return False
        self._say(Rest(of, 0, time.time(), 0), names, shared)
        return True

    def is_well(self, host: str) -> bool:
        """Whether a host did not fail when this worker last looked, which is not long ago."""
        known = self._known.get(label(host))
        if known is None or known[1] is not None:
            return False
        return time.monotonic() - known[0] < _LOOK_AGAIN_S

    def may_be_resting(self, labels: Iterable[str]) -> bool:
        """Whether one of these hosts was failing when this worker last looked."""
        return any(self._known.get(one, (0, None))[1] is not None for one in labels)

    def _counting(
        self, of: str, said: list[tuple[Rest, str]], shared: SharedDirectory, now: float
    ) -> Rest | None:
        longest = self._settings.max_delay_s
        found = newest((rest for rest, _ in said), now, longest)
        with self._lock:
            if found is None:  # nobody contradicts that the host works
                self._honoured.pop(of, None)
            alone = self._honoured.get(of, 0) >= longest
        if alone:
            own = [rest for rest, name in said if shared.owner(name) == os.geteuid()]
            found = newest(own, now, longest)
        return found

    def _say(self, rest: Rest, names: Iterable[str], shared: SharedDirectory) -> None:
        """Replace what this user has said of the host, and remove what is long over."""
        name = rest_name(rest)
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        os.close(os.open(name, flags, 0o644, dir_fd=shared.fd))
        oldest = time.time() - forgotten_after_s(self._settings.max_delay_s)
        for other in names:
            old = read_rest_name(other)
            if old is None or other == name:
                continue
            over = max(old.until, old.since) < oldest
            if (old.label == rest.label or over) and shared.owner(other) == os.geteuid():
                shared.remove(other)
        with self._lock:
            self._known[rest.label] = (time.monotonic(), rest if rest.failures else None)
