"""The way "plugin": HTCondor's file-transfer plugins, between a URL and a local file.

A plugin says with `-classad` which schemes it knows.  A newer one reads what to transfer from a
file and writes the result to another; an older one gets source and destination as arguments, where
all users of the machine see them, so it gets no URL with a secret.

The file with the URL, which may have a password, is in a directory that only the user may enter; it
is removed with it, at the latest by the next use of a plugin if the worker is killed.  (A file in
memory, named by its descriptor in /proc, would leave nothing behind, but curl_plugin refuses it.)
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager

from condor_pydagman.adapters import files
from condor_pydagman.data_requests import site_programs
from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.requests import OVERWRITE, Transfer
from condor_pydagman.data_requests.settings import PLUGIN
from condor_pydagman.data_requests.urls import Url, masked_text
from condor_pydagman.errors import FileError
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.placement import child_process, site_modules
from condor_pydagman.placement.endpoints.disk_faults import writing
from condor_pydagman.placement.local_part import LocalPart, ProgramRun, compare_checksum, grown
from condor_pydagman.placement.plugin_ad_reader import MAX_CHARACTERS, read_ads
from condor_pydagman.placement.private_places import scratch_directory
from condor_pydagman.placement.rules import plugin_results
from condor_pydagman.placement.rules.plugin_results import Ability, Ad
from condor_pydagman.placement.way import OneByOne, Outcome, Progress, Surroundings
from condor_pydagman.printable import message

_NOT_THERE = " is not there"
ASK_TIMEOUT_S = 10.0  # for a plugin to say what it knows
# What tries again is the worker: curl_plugin would for about four minutes, silently.
_RETRIES = {"CURL_MAX_RETRY_ATTEMPTS": "1", "CONDOR_CURL_MAX_RETRY_ATTEMPTS": "1"}


class _Plugin(NamedTuple):
    """A plugin, and what it says of itself or why it can't be used."""

    path: str
    ability: Ability
    problem: str = ""

    @property
    def name(self) -> str:
        return os.path.basename(self.path)


class PluginWay(OneByOne):
    """Transfers by plugins; see `way.Way`."""

    name = PLUGIN

    def __init__(self) -> None:
        self._lock = threading.Lock()  # one thread asks, the others wait
        self._known: dict[tuple[str, int], _Plugin] = {}

    def obstacle(self, transfer: Transfer, surroundings: Surroundings) -> str:
        """Why no plugin can take it, in a few words; '' if one can."""
        return self._find(transfer, surroundings)[1]

    def perform(
        self, transfer: Transfer, surroundings: Surroundings, progress: Progress
    ) -> Outcome:
        """Run the plugin.

        Raises:
            Fault: it failed.
        """
        plugin, reason = self._find(transfer, surroundings)
        if plugin is None:
            raise Fault(FaultKind.MODULE, reason, transient=False)
        run = _Run(plugin, transfer, surroundings, progress)
        return run.to_file() if transfer.destination.is_local else run.to_elsewhere()

    def _find(self, transfer: Transfer, surroundings: Surroundings) -> tuple[_Plugin | None, str]:
        """A plugin for a transfer, or None and why there is none."""
        source, destination = transfer.source, transfer.destination
        remote = source if destination.is_local else destination
        if remote.is_local or not (source.is_local or destination.is_local):
            return None, "one end must be a file of this machine, the other one not"
        if source.is_directory:
            return None, "it takes single files"
        if transfer.if_exists != OVERWRITE and not destination.is_local:
            return None, "it can't tell what is there already"
        asked = [self._asked(path, surroundings) for path in surroundings.settings.plugins]
        fit = [plugin for plugin in asked if remote.scheme in plugin.ability.schemes]
        for plugin in fit:
            if plugin.ability.several or site_modules.argument(remote) == remote.with_secrets():
                return plugin, ""
        if fit:
            return None, f"{fit[0].name} takes URLs as arguments, and this one has a secret"
        if all(plugin.problem.endswith(_NOT_THERE) for plugin in asked):
            return None, "none of those configured is there" if asked else "none is configured"
        problems = [f"; {plugin.problem}" for plugin in asked if plugin.problem]
        names = ", ".join(plugin.name for plugin in asked)
        return None, f"none of {names} knows {remote.scheme}" + "".join(problems)

    def _asked(self, path: str, surroundings: Surroundings) -> _Plugin:
        """A plugin, asked once for each of its versions."""
        try:
            changed = os.stat(path).st_mtime_ns
        except FileNotFoundError:  # HTCondor's defaults name some that few installations have
            return _unusable(path, f"{path}{_NOT_THERE}")
        except OSError as error:
            return _unusable(path, f"{path}: {error.strerror}")
        with self._lock:
            known = self._known.get((path, changed))
            if known is None:
                known = self._known[path, changed] = _ask(path, surroundings)
        return known


def _ask(path: str, surroundings: Surroundings) -> _Plugin:
    refusal = site_programs.refusal(path)
    if refusal:
        return _unusable(path, f"{path} {refusal}")
    try:
        ended = child_process.run(
            [path, "-classad"],
            site_modules.environment(surroundings, {}),
            surroundings.directory,
            Progress(threading.Event()),
            timeout_s=ASK_TIMEOUT_S,
        )
        if ended.code:
            line = message(masked_text(child_process.last_line(ended.errors)))
            return _unusable(path, f"{os.path.basename(path)} -classad {ended.how}: {line}")
        text = ended.output.decode("utf-8", "replace")
        ads = read_ads(text)
        return _Plugin(path, plugin_results.ability(ads[0] if ads else {}))
    except Fault as fault:
        return _unusable(path, fault.reason)
    except ValueError as error:
        return _unusable(path, f"{os.path.basename(path)} -classad: {error}")


def _unusable(path: str, problem: str) -> _Plugin:
    return _Plugin(path, Ability(frozenset(), False), problem)


class _Run(ProgramRun):
    """One attempt by a plugin."""

    def __init__(
        self, plugin: _Plugin, transfer: Transfer, surroundings: Surroundings, progress: Progress
    ) -> None:
        super().__init__(f"plugin {plugin.name}", transfer, surroundings, progress)
        self._plugin = plugin

    def _write(self, part: LocalPart) -> None:
        result = self._call(self._transfer.source, part.path, part)
        grown(self._progress, part.size())
        _compare_sizes(result, part.size(), self._plugin.name)

    def _send(self, total: int | None) -> None:
        """A checksum of the request is that of the local file."""
        transfer = self._transfer
        path, url = transfer.source.path, transfer.destination
        if url.is_directory:
            url = url.child(transfer.source.name)
        if transfer.checksum:
            try:
                compare_checksum(path, transfer.checksum, self._progress)
            except OSError as error:
                reason = f"can't read {path}: {error.strerror}"
                raise Fault(FaultKind.DENIED, reason) from None
        _compare_sizes(self._call(url, path, None), total, self._plugin.name)

    def _call(self, url: Url, path: str, part: LocalPart | None) -> Ad:
        """Run the plugin, for an upload if there is no `part`; its result, {} if it writes none."""
        upload = part is None
        if not self._plugin.ability.several:
            ends = [path, url.with_secrets()] if upload else [url.with_secrets(), path]
            ended = self._execute(ends, part)
            if ended.code:
                raise self._fault_of(ended, url)
            return {}
        with _exchange(_wanted(url, path)) as (wanted, result):
            words = ["-infile", wanted, "-outfile", result, *["-upload"] * upload]
            ended = self._execute(words, part)
            ad = _result(result, url)
        told = ad.get("transfererror")
        if isinstance(told, str):
            ad["transfererror"] = site_modules.without_secrets(told, url)
        fault = plugin_results.fault_of_result(ad, self._plugin.name, url.server) if ad else None
        if fault is not None:
            raise fault
        if ended.code or not ad:
            raise self._fault_of(ended, url)
        return ad

    def _execute(self, words: list[str], part: LocalPart | None) -> child_process.Ended:
        known = self._surroundings.environment
        variables = {name: value for name, value in _RETRIES.items() if name not in known}
        return self._run([self._plugin.path, *words], variables, part)

    def _fault_of(self, ended: child_process.Ended, url: Url) -> Fault:
        """Why it failed, if it has not said so in a result."""
        line = site_modules.said(ended, url)
        text = f"{ended.how}: {line}" if line else f"{ended.how} and wrote no result"
        if ended.code < 0 or not line:
            return Fault(FaultKind.MODULE, f"{self._plugin.name} {text}")
        return plugin_results.fault_of_text(text, self._plugin.name, url.server)


def _wanted(url: Url, path: str) -> bytes:
    ad: Mapping[str, str] = {"Url": url.with_secrets(), "LocalFileName": path}
    try:
        return os.fsencode(plugin_results.printed(ad) + "\n")
    except ValueError as error:
        raise Fault(FaultKind.REQUEST, str(error)) from None


@contextmanager
def _exchange(wanted: bytes) -> Iterator[tuple[str, str]]:
    """Paths of the file with what is wanted and of that for the result."""
    place = tempfile.gettempdir()
    with writing(place):
        stack = ExitStack()
        directory = stack.enter_context(scratch_directory("plugin"))
    with stack:
        asked = os.path.join(directory, "wanted")
        with writing(asked), open(asked, "xb") as file:
            file.write(wanted)
        yield asked, os.path.join(directory, "result")


def _result(path: str, url: Url) -> Ad:
    """The result for a URL in a plugin's file; {} if there is none.

    Raises:
        Fault: it is nothing that can be read.
    """
    try:
        with files.open_ordinary(path) as file:
            ads = read_ads(file.read(4 * MAX_CHARACTERS + 1).decode("utf-8", "replace"))
    except FileNotFoundError:
        return {}
    except (OSError, FileError, ValueError) as error:
        raise Fault(FaultKind.MODULE, f"the plugin's result can't be read: {error}") from None
    fit = [ad for ad in ads if ad.get("transferurl") == url.with_secrets()]
    return (fit or ads or [{}])[-1]


def _compare_sizes(result: Ad, size: int | None, plugin: str) -> None:
    """Compare a file with what the plugin says that it has moved.

    Raises:
        Fault: they differ.
    """
    moved, total = result.get("transferfilebytes"), result.get("transfertotalbytes")
    for told in (moved, total):
        if isinstance(told, int) and told > 0 and size is not None and told != size:
            raise Fault(
                FaultKind.MISMATCH, f"{plugin} tells of {told} bytes, but the file has {size}"
            )
