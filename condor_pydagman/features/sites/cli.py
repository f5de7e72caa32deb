"""`condor_pydagman sites`: the sites that groups of nodes are matched to, and their monitor."""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import signal
import time
from collections import Counter
from pathlib import Path
from types import FrameType

from condor_pydagman.adapters.knobs import lookup
from condor_pydagman.adapters.request_client import groups_of, steer
from condor_pydagman.cli.say import say
from condor_pydagman.cli.subcommands import Subparsers, add_subcommand, seconds
from condor_pydagman.cli.text_table import columns
from condor_pydagman.cli.which_dag import running_dag
from condor_pydagman.errors import FileError, PydagmanError
from condor_pydagman.features.sites.adapters import ads as site_ads
from condor_pydagman.features.sites.adapters import overview as site_overview
from condor_pydagman.features.sites.adapters.files import lonely_probes, read_sites, with_probe
from condor_pydagman.features.sites.adapters.monitor import (
    INTERVAL_S,
    PROBE_TIMEOUT_S,
    Collected,
    Monitor,
)
from condor_pydagman.features.sites.adapters.overview import SiteRow
from condor_pydagman.printable import number_of, printable
from condor_pydagman.words import duration

_TRIES, _PAUSE_S = 5, 1.0  # to take the ads back in the end


class _Ended(Exception):
    """Somebody ends the monitor."""


def run(arguments: argparse.Namespace) -> int:
    """Publish the sites of a directory; returns the exit code.

    Raises:
        FileError: the directory can't be read, or another monitor has it.
        PydagmanError: with --once, the collector does not take the ads.
    """
    directory = Path(arguments.directory)
    if arguments.check:
        return _check(directory)
    if arguments.log:
        _log_to(arguments.log)
    lock = _locked(directory)
    try:
        monitor = Monitor(
            directory,
            Collected(site_ads.publish, site_ads.take_back, site_ads.publishers),
            _counts,
            _say,
            interval_s=arguments.interval,
            probe_timeout_s=arguments.probe_timeout,
        )
        if arguments.once:
            outcome = monitor.round()
            return int(bool(outcome.problems))
        return _go_on(monitor, arguments.interval)
    finally:
        os.close(lock)


def _log_to(path: str) -> None:
    """Standard output and error are that file from now on; condor_master has none for them."""
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from None
    os.dup2(fd, 1)
    os.dup2(fd, 2)
    os.close(fd)


def _check(directory: Path) -> int:
    try:
        sites = [with_probe(site) for site in read_sites(directory)]
        lonely = lonely_probes(directory)
    except OSError as error:
        raise FileError(f"{directory}: {error.strerror}") from None
    told = [line for site in sites for line in (*site.problems, *site.warnings)]
    for line in (*told, *lonely):
        say(*line.split("\n"))
    wrong = sum(bool(site.problems) for site in sites)
    say(f"{number_of(len(sites), 'site')}, {wrong} of them wrong")
    return int(wrong > 0)


def _go_on(monitor: Monitor, interval_s: float) -> int:
    """Round after round; SIGTERM and Ctrl-C end it, SIGHUP begins the next one."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, _end)
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGHUP,))
    said = ""
    try:
        while True:
            try:
                sites = monitor.round().published
                if said:
                    _say(f"all is well again: {number_of(len(sites), 'site')} published")
                said = ""
            except PydagmanError as error:
                if str(error) != said:
                    said = str(error)
                    _say(f"{said}; retrying every {interval_s:g} s")
            signal.sigtimedwait((signal.SIGHUP,), interval_s)
    except _Ended:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    return _take_back(monitor)


def _take_back(monitor: Monitor) -> int:
    """All ads; the collector may be too busy at first."""
    for left in reversed(range(_TRIES)):
        try:
            monitor.end()
            return 0
        except PydagmanError as error:
            if not left:
                _say(f"the ads stay until they are too old: {error}")
        time.sleep(bool(left) * _PAUSE_S)
    return 1


def _end(_number: int, _frame: FrameType | None) -> None:
    raise _Ended


def _locked(directory: Path) -> int:
    """The directory, which one monitor alone may publish."""
    try:
        fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise FileError(f"{directory}: {error.strerror}") from None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        raise FileError(f"{directory}: another monitor publishes these sites") from None
    return fd


def _counts() -> Counter[str]:
    claims = site_overview.all_claims(lookup("PYDAGMAN_SITES_DIR") or "", _say)
    return sum((one.counts() for one in claims), Counter[str]())


def _say(text: str) -> None:
    when = time.strftime("%m/%d/%y %H:%M:%S")
    lines = text.split("\n")
    told = "\n".join([f"{when} {printable(lines[0])}", *map(printable, lines[1:])]) + "\n"
    with contextlib.suppress(OSError):  # the sites stay where they are though the disk is full
        os.write(1, told.encode())


_COLUMNS = ("SITE", "GROUPS", "ROOM", "RUN", "IDLE", "HELD", "FAILED", "AD")
_GROUP_COLUMNS = ("GROUP", "SITE", "STATE", "ROUND", "DONE", "WHY")
_MONITOR = """\
Publish sites in the collector, for DAGs with SITE_GROUP. DIRECTORY contains a file NAME.ad for
each site, with lines "Attribute = expression"; a program NAME.probe next to it can print more of
them. The monitor runs until SIGTERM or Ctrl-C, and then removes its ads. Exit code: 0 if all is
well; 1 if a site is wrong (with --once or --check), or the collector does not accept the ads."""


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand."""
    parser = add_subcommand(
        subparsers,
        "sites",
        "list, publish and change the sites of groups of nodes",
        "List, publish and change the sites of groups of nodes (SITE_GROUP).",
    )
    inner = parser.add_subparsers(metavar="ACTION", required=True)
    _add_list(inner)
    _add_groups(inner)
    _add_monitor(inner)
    _add_rematch(inner)


def _add_list(inner: Subparsers) -> None:
    about = (
        "List the sites: groups that the DAGMans of this access point have matched to them, room"
        " for more, jobs of this schedd, jobs that failed in the last hour, and the age of the ad."
    )
    parser = add_subcommand(inner, "list", "list the sites", about, _list)
    parser.add_argument("--json", action="store_true", help="print JSON")


def _add_groups(inner: Subparsers) -> None:
    about = "List the groups of a running DAG: their sites, their progress, and why they wait."
    parser = add_subcommand(inner, "groups", "list the groups of a DAG", about, _groups)
    parser.add_argument(
        "dag", metavar="DAG", help="the first DAG file, or the cluster of DAGMan's job"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def _add_monitor(inner: Subparsers) -> None:
    parser = add_subcommand(inner, "monitor", "publish sites", _MONITOR, run)
    parser.add_argument(
        "directory", metavar="DIRECTORY", help="directory with descriptions of sites"
    )
    parser.add_argument(
        "--interval",
        type=seconds(0.001, 1_000_000),
        default=INTERVAL_S,
        metavar="SECONDS",
        help="time between rounds",
    )
    parser.add_argument(
        "--probe-timeout",
        type=seconds(0.001, 1_000_000),
        default=PROBE_TIMEOUT_S,
        metavar="SECONDS",
        help="time limit of a probe",
    )
    parser.add_argument(
        "--log", metavar="FILE", help="append messages to this file, instead of standard output"
    )
    parser.add_argument(
        "--once", action="store_true", help="publish the ads once, and leave them in the collector"
    )
    parser.add_argument("--check", action="store_true", help="only check the descriptions")


def _add_rematch(inner: Subparsers) -> None:
    about = (
        "Move a group to another site: DAGMan removes its jobs, runs its clean-up node, and starts"
        " all its nodes over at another site."
    )
    parser = add_subcommand(inner, "rematch", "move a group to another site", about, _rematch)
    parser.add_argument(
        "dag", metavar="DAG", help="the first DAG file, or the cluster of DAGMan's job"
    )
    parser.add_argument("group", metavar="GROUP", help="name of the SITE_GROUP")


def _rematch(arguments: argparse.Namespace) -> int:
    dag = running_dag(arguments.dag)
    answer = steer(dag, "rematch", group=arguments.group)
    for _, reason in answer.refused:
        say(f"refused: {reason}")
    if answer.done:
        say(f"group {arguments.group} is leaving its site")
    return int(answer.refused_count > 0)


def _list(arguments: argparse.Namespace) -> int:
    """Print the sites; returns the exit code.

    Raises:
        PydagmanError: the collector, the schedd or the claims can't be asked.
    """
    now = time.time()
    found = site_overview.rows(
        site_ads.query(),
        site_overview.all_claims(lookup("PYDAGMAN_SITES_DIR") or "", say),
        site_overview.queued_jobs(),
        site_overview.failed_jobs(now),
        now,
    )
    if arguments.json:
        print(json.dumps([{**row._asdict(), "room": row.room} for row in found], indent=4))
        return 0
    if not found:
        say("there are no sites; condor_pydagman sites monitor publishes them (docs/sites.md)")
    say(*table(found))
    return 0


def _groups(arguments: argparse.Namespace) -> int:
    """Print the groups of a DAG; returns the exit code.

    Raises:
        PydagmanError: DAGMan can't be asked.
    """
    groups = groups_of(running_dag(arguments.dag))
    if arguments.json:
        print(json.dumps([group._asdict() for group in groups], indent=4))
        return 0
    if not groups:
        say("the DAG has no groups of nodes (SITE_GROUP)")
        return 0
    rows = [_GROUP_COLUMNS]
    for group in groups:
        done = f"{group.done}/{group.total}"
        state = group.state.lower()
        rows.append((group.name, group.site or "-", state, str(group.round), done, group.reason))
    say(*columns(rows, left=(0, 1, 2, 5)))
    return 0


def table(found: list[SiteRow]) -> list[str]:
    """The sites in columns; nothing if there are none."""
    if not found:
        return []
    notes = [f"{row.name}: {row.problem}" for row in found if row.problem]
    return [*columns([_COLUMNS, *map(_cells, found)], left=(0,)), *notes]


def _cells(row: SiteRow) -> tuple[str, ...]:
    limit = "?" if row.most is None or row.problem else str(row.most)
    age = "none" if row.age_s is None else duration(max(0.0, row.age_s))
    room = "-" if row.most is None else str(row.room)
    counts = (row.running, row.idle, row.held, row.failed)
    return (row.name, f"{row.groups}/{limit}", room, *map(str, counts), age)
