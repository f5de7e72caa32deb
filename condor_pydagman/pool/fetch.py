"""Fetch an HTCondor into a cache directory of the user.

Debian's newest suites carry it; its packages are unpacked, not installed, and made to run with
their own libraries.  That takes no root, ten seconds and about 100 MB of disk.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from condor_pydagman.errors import PoolError
from condor_pydagman.pool import advice, apt, configuration, elf, trust
from condor_pydagman.pool.release_tree import (
    MIN_VERSION,
    MIN_VERSION_TEXT,
    Layout,
    ask_version,
    detect,
)

SUITES = {"debian": ("testing", "unstable"), "ubuntu": ("devel",)}
ELSEWHERE = "set XDG_CACHE_HOME to a directory of your own that only you may write to"
COMPONENTS = {"debian": "main", "ubuntu": "main universe"}
STAMP = "complete"


def cached(cache: Path) -> Layout | None:
    """The release fetched before; None if there is none, or only a half."""
    prefix = cache / "prefix"
    try:
        # Programs name their loader by path, so a release that was moved is of no use.
        if (prefix / STAMP).read_text(encoding="utf-8").strip() != str(prefix):
            return None
    except OSError:
        return None
    return detect(prefix / "usr")


def fetch(cache: Path, say: Callable[[str], None]) -> Layout:
    """The release in `cache`, fetched first if it is not there; one process at a time.

    Args:
        cache: directory for it; made if absent.
        say: told what goes on, as it takes a while.

    Raises:
        PoolError: this machine can't fetch it; the message says what to install instead.
    """
    try:
        configuration.refuse_unusable(cache, "set XDG_CACHE_HOME to another directory")
        cache.mkdir(parents=True, exist_ok=True)
        prefix = cache / "prefix"
        trust.refuse_others(prefix if os.path.lexists(prefix) else cache, ELSEWHERE)
        found = cached(cache)  # also where nothing can be written
        if found is None:
            with alone(cache):
                found = cached(cache) or _fetch(cache, say)
        return found
    except PoolError as error:
        raise PoolError(f"{error.reason}\n{advice.here()}", transient=error.transient) from None
    except OSError as error:
        raise PoolError(
            f"{error.filename or cache}: {error.strerror}; {ELSEWHERE} and that has 200 MB free",
            transient=False,
        ) from None


@contextlib.contextmanager
def alone(cache: Path) -> Iterator[None]:
    """One process at a time writes to the cache."""
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fetch(cache: Path, say: Callable[[str], None]) -> Layout:
    say(f"fetching HTCondor into {cache} (once)")
    if not apt.available():
        raise PoolError(
            "no HTCondor found, and this machine has no apt-get to fetch one with",
            transient=False,
        )
    prefix, work = cache / "prefix", cache / "work"
    _remove(prefix, work)
    try:
        return _build_in(prefix, work)
    except BaseException:  # a disk that got full is not left so
        _remove(prefix)
        raise
    finally:
        _remove(work)


def _build_in(prefix: Path, work: Path) -> Layout:
    prefix.mkdir()
    archive = apt.Apt(work)
    _choose_suite(archive)
    archive.unpack(archive.libraries(["condor", "patchelf"]), prefix)
    elf.make_runnable(prefix)
    found = detect(prefix / "usr")
    if ask_version(found) is None:
        raise PoolError(f"the fetched HTCondor in {prefix} does not run here", transient=False)
    (prefix / STAMP).write_text(f"{prefix}\n", encoding="utf-8")
    return found


def _remove(*directories: Path) -> None:
    for directory in directories:
        shutil.rmtree(directory, ignore_errors=True)


def _choose_suite(archive: apt.Apt) -> None:
    """Point `archive` at the first suite that has an HTCondor new enough."""
    system, codename = debian_or_ubuntu()
    mirrors = apt.mirrors(apt.archives(), codename)
    problems = [] if mirrors else ["apt's own sources name no archive of this distribution"]
    for mirror in mirrors:
        for suite in SUITES[system]:
            try:
                archive.use(source_line(system, mirror, suite, keyring(system)))
                version = archive.version("condor")
            except PoolError as error:
                problems.append(error.reason)
                continue
            if new_enough(version):
                return
            problems.append(
                f"suite {suite} has no HTCondor {MIN_VERSION_TEXT} (it has: {version or 'none'})"
            )
    raise PoolError("can't fetch HTCondor: " + "; ".join(problems), transient=True)


def source_line(system: str, mirror: str, suite: str, keyring: Path) -> str:
    """A line of sources.list(5)."""
    return f"deb [signed-by={keyring}] {mirror} {suite} {COMPONENTS[system]}"


def new_enough(version: str) -> bool:
    """Whether a package's version is one that we work with; '' is not."""
    numbers = re.match(r"(\d+)\.(\d+)", version)
    return numbers is not None and (int(numbers[1]), int(numbers[2])) >= MIN_VERSION


def debian_or_ubuntu() -> tuple[str, str]:
    """The distribution ('debian' or 'ubuntu') and the code name of its release."""
    release = advice.os_release()
    system = release.get("ID", "")
    if system not in SUITES:
        raise PoolError(
            f"no HTCondor found, and none can be fetched for {release.get('NAME', 'this system')}",
            transient=False,
        )
    return system, release.get("VERSION_CODENAME", "")


def keyring(system: str) -> Path:
    """The file of keys that `system` signs its archive with."""
    for suffix in ("pgp", "gpg"):
        path = Path(f"/usr/share/keyrings/{system}-archive-keyring.{suffix}")
        if path.exists():
            return path
    raise PoolError(f"no /usr/share/keyrings/{system}-archive-keyring.gpg", transient=False)
