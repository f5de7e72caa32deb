"""Publishes the sites of a directory in the collector, as long as it runs.

In each round all descriptions are read anew, probes are asked, and what has changed is told.  A
site whose description or probe is wrong is taken back; the others are not affected.  Ads that are
not renewed vanish by themselves after three rounds, should the monitor die.

Probes are programs beside the descriptions, `NAME.probe`, which print attributes that change, such
as the length of the site's queue, as lines `Attribute = expression`.  A probe that fails, or that
takes too long, says that its site can't be used now.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from condor_pydagman.errors import FileError, PydagmanError
from condor_pydagman.features.sites.adapters.ads import (
    MY_TYPE,
    PUBLISHER,
    Publisher,
    limit_of,
    value_of,
)
from condor_pydagman.features.sites.adapters.files import (
    MAX_PROBLEMS,
    Described,
    ad_of,
    note,
    parse,
    probe_of,
    read_sites,
    without_own,
)
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import message

MAX_OUTPUT = 100_000  # bytes of what a probe prints
_LOOK_S = 0.05  # between looks whether a probe has ended
_MAX_SHOWN = 200  # characters of what a probe says of its failure
# What condor_master gives its daemons, with a key by which they trust each other.
_SECRET = frozenset(("CONDOR_INHERIT", "CONDOR_PRIVATE_INHERIT"))


class Probed(NamedTuple):
    """What a probe has come to."""

    attributes: dict[str, str]  # the expressions that it printed, as text
    problem: str = ""  # why the site can't be used now; '' if it can
    remark: str = ""  # what is to be known of what it printed


def ask(probe: Path, name: str, timeout_s: float) -> Probed:
    """Run a probe with the site's name as its argument, in its own directory."""
    try:
        process = subprocess.Popen(  # noqa: S603 - the program that the site's owner has named
            [os.fspath(probe.absolute()), name],
            bufsize=0,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=probe.absolute().parent,
            env={name: value for name, value in os.environ.items() if name not in _SECRET},
            start_new_session=True,
        )
    except OSError as error:
        advice = f" (chmod +x {probe})" if isinstance(error, PermissionError) else ""
        return Probed({}, f"{probe}: {error.strerror}{advice}")
    assert process.stdout is not None
    with process.stdout as pipe:
        try:
            data = _printed(process, pipe.fileno(), timeout_s)
        except subprocess.TimeoutExpired:
            return Probed({}, f"{probe}: no answer within {timeout_s:g} s")
        finally:
            _end(process)
    return _read(probe, process.returncode, data)


def _printed(process: subprocess.Popen[bytes], pipe: int, timeout_s: float) -> bytes:
    """What a probe prints until it ends, or until that is too much; what it leaves behind may have
    the other end of the pipe open.

    Raises:
        subprocess.TimeoutExpired: that takes too long.
    """
    os.set_blocking(pipe, False)
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    data, until = bytearray(), time.monotonic() + timeout_s
    while len(data) <= MAX_OUTPUT:
        left = until - time.monotonic()
        if left <= 0:
            raise subprocess.TimeoutExpired(process.args, timeout_s)
        has_ended = process.poll() is not None
        if not poll.poll(0 if has_ended else min(left, _LOOK_S) * 1000):
            if has_ended:
                break
            continue
        some = os.read(pipe, MAX_OUTPUT)
        if not some:
            process.wait(left)
            break
        data += some
    return bytes(data)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what is left of a probe, and what it has started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _read(probe: Path, code: int, data: bytes) -> Probed:
    if len(data) > MAX_OUTPUT:
        return Probed({}, f"{probe} prints more than {MAX_OUTPUT:,} bytes")
    text = data.decode("utf-8", "replace")
    if code:
        ended = f"exit code {code}" if code > 0 else f"signal {-code}"
        said = message(text.strip().rpartition("\n")[2][:_MAX_SHOWN])
        return Probed({}, f"{probe}: {ended}{f': {said}' if said else ''}")
    attributes, problems = parse(text, f"output of {probe}")
    if problems:
        return Probed({}, "\n".join(problems[:MAX_PROBLEMS]))
    if any(name.lower() == "name" for name in attributes):
        return Probed({}, f"{probe} prints Name, which a probe can't set")
    found, ignored = without_own(attributes)
    remark = f"output of {probe}: {note(ignored)}" if ignored else ""
    return Probed({name: expression for name, (_, expression) in found.items()}, remark=remark)


INTERVAL_S = 120.0  # between two rounds of probes
PROBE_TIMEOUT_S = 20.0  # for a probe to say how its site is
_PROBES_AT_ONCE = 16
_LIFETIMES = 3  # rounds after which an ad that is not renewed vanishes


class Outcome(NamedTuple):
    """A round."""

    published: tuple[str, ...]  # names of the sites that are in the collector now
    problems: tuple[str, ...]  # what is wrong, for people


class Collected(NamedTuple):
    """Access to the collector: `publish` takes ads, `take_back` names of sites and the monitor that
    they are from; both may raise PoolError.  `publishers` says who has published each site last."""

    publish: Callable[[Sequence[Any]], None]
    take_back: Callable[[Sequence[str], str], None]
    publishers: Callable[[], Mapping[str, Publisher]] = dict


class Monitor:
    """Publishes the sites of a directory.

    Args:
        directory: with descriptions and probes.
        collector: where they are published.
        counts: how many groups are matched, by site; may raise PydagmanError.
        say: is told what has changed.
        interval_s: seconds between rounds, for the lifetime of ads.
        probe_timeout_s: that a probe may take.
    """

    def __init__(
        self,
        directory: Path,
        collector: Collected,
        counts: Callable[[], Counter[str]],
        say: Callable[[str], None],
        *,
        interval_s: float = INTERVAL_S,
        probe_timeout_s: float = PROBE_TIMEOUT_S,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._directory = directory
        self._name = f"{socket.gethostname()}:{directory.resolve()}"
        self._rivals: dict[str, float] = {}  # by site, until when another monitor has it as well
        self._collector = collector
        self._counts = counts
        self._say = say
        self._interval_s = interval_s
        self._probe_timeout_s = probe_timeout_s
        self._clock = clock
        self._published: set[str] = set()
        self._problems: set[str] = set()

    def round(self) -> Outcome:
        """Publish what is there now.

        Raises:
            PydagmanError: that can't be done now; what is published stays until its lifetime ends.
        """
        try:
            sites = read_sites(self._directory)
        except OSError as error:
            raise FileError(f"{self._directory}: {error.strerror}") from None
        problems = [problem for site in sites for problem in site.problems]
        ads, probed = self._ads([site for site in sites if not site.problems])
        failed = [one.problem for one in probed if one.problem]
        remarks = [text for site in sites for text in site.warnings]
        remarks += [one.remark for one in probed if one.remark]
        names = {str(value_of(ad, "Name")) for ad in ads}
        remarks += self._look_for_rivals(names | self._published)
        self._tell([*problems, *failed, *remarks])
        gone = sorted(self._published - names)
        if gone:
            self._take_back(gone)
        if ads:
            self._collector.publish(ads)
        new = sorted(names - self._published)
        if new:
            self._say(f"published: {', '.join(new)}")
        self._published = names
        return Outcome(tuple(sorted(names)), (*problems, *failed))

    def end(self) -> None:
        """Take all sites back.

        Raises:
            PydagmanError: that can't be done; the ads vanish by themselves later.
        """
        if self._published:
            self._look_for_rivals(self._published)
            self._take_back(sorted(self._published))

    def _take_back(self, names: Sequence[str]) -> None:
        """Those that another monitor publishes as well are left to it: it may not look for long."""
        shared = [name for name in names if self._rivals.get(name, 0.0) > self._clock()]
        own = [name for name in names if name not in shared]
        if own:
            self._collector.take_back(own, self._name)
            self._say(f"removed: {', '.join(own)}")
        if shared:
            self._say(f"left to another monitor: {', '.join(shared)}")
        self._published -= set(names)

    def _look_for_rivals(self, names: Collection[str]) -> list[str]:
        """Note which of these sites another monitor publishes; what is said of that."""
        found: dict[str, list[str]] = {}
        for site, by in self._collector.publishers().items():
            if site in names and by.monitor not in ("", self._name):
                self._rivals[site] = self._clock() + by.lifetime_s
                found.setdefault(by.monitor, []).append(site)
        return [
            f"warning: another monitor ({monitor}) publishes sites with the same names:"
            f" {', '.join(sorted(sites))}"
            for monitor, sites in sorted(found.items())
        ]

    def _ads(self, sites: Sequence[Described]) -> tuple[list[Any], list[Probed]]:
        """The ads of sites that can be used, and what the probes of all have come to."""
        with ThreadPoolExecutor(_PROBES_AT_ONCE) as pool:
            probed = list(pool.map(self._probed, sites))
        taken = self._taken()
        ads = [
            self._ad(site, result.attributes, taken)
            for site, result in zip(sites, probed)
            if not result.problem
        ]
        return ads, probed

    def _probed(self, site: Described) -> Probed:
        probe = probe_of(site.path)
        if probe is None:
            return Probed({})
        found = ask(probe, site.name, self._probe_timeout_s)
        if found.problem or limit_of(ad_of({**site.attributes, **found.attributes})) is not None:
            return found
        return Probed({}, f"{probe}: MaxMatches is a whole number, not negative")

    def _taken(self) -> Counter[str]:
        try:
            return self._counts()
        except PydagmanError as error:
            self._say(f"matches can't be counted: {error}")
            return Counter()

    def _ad(self, site: Described, more: dict[str, str], taken: Counter[str]) -> Any:
        known = {name.lower() for name in more}
        own = {name: text for name, text in site.attributes.items() if name.lower() not in known}
        ad = ad_of({**own, **more})
        ad["MyType"] = MY_TYPE
        ad[PUBLISHER] = self._name
        ad["CurMatches"] = taken[site.name]
        ad["UpdateSequenceNumber"] = int(self._clock())
        ad["ClassAdLifetime"] = int(_LIFETIMES * self._interval_s)
        return ad

    def _tell(self, problems: Sequence[str]) -> None:
        """What is wrong is told once, and again when it has been mended in between."""
        for problem in problems:
            if problem not in self._problems:
                self._say(problem)
        self._problems = set(problems)
