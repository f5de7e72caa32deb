"""Which HTCondor a pool runs: the one that is named, else an installed one, else a fetched one."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from condor_pydagman.adapters.python_child import python_command
from condor_pydagman.errors import PoolError
from condor_pydagman.pool import apt, configuration, fetch, trust
from condor_pydagman.pool.release_tree import (
    MIN_VERSION,
    MIN_VERSION_TEXT,
    Layout,
    ask_version,
    detect,
    masters,
    output_of,
)

UNPACKED = "tarballs"  # in the cache
# In a process of its own: what the bindings say and do about a bad configuration stays there.
_ASK_CONFIGURATION = "import htcondor2; print(htcondor2.param.get('RELEASE_DIR', ''))"


def find(cache: Path, say: Callable[[str], None], named: Path | None = None) -> Layout:
    """The HTCondor for a pool.

    Args:
        cache: directory for what is fetched or unpacked; made if absent.
        say: told why an installed one is not used, and what takes a while.
        named: the release that the user wants: a directory or a tarball; None for any.

    Raises:
        PoolError: the named one can't be used, or there is none and none can be fetched; the
            message says what to do.
    """
    if named:
        return named_release(named, cache, say)
    for master in installed():
        try:
            return usable(master.parent.parent)
        except PoolError as error:
            say(f"not used: {master}: {error.reason}")
    return fetch.fetch(cache, say)


def installed() -> Iterator[Path]:
    """Each condor_master of this machine: on PATH, in the usual places, in the configuration's."""
    yield from masters(os.environ.get("PATH", os.defpath))
    yield from of_configuration()


def of_configuration() -> list[Path]:
    """The condor_master below RELEASE_DIR of HTCondor's configuration, if there is one."""
    release = output_of(python_command(_ASK_CONFIGURATION)).strip()
    master = Path(release, "sbin/condor_master")
    return [master.resolve()] if release and master.exists() else []


def usable(release: Path) -> Layout:
    """The layout of a release that runs here and is new enough.

    Raises:
        PoolError: it is not; the message says why.
    """
    configuration.refuse_unusable(release, "move it to another directory")
    found = detect(release)
    version = ask_version(found)
    if version is None:
        raise PoolError(
            f"{found.bin}/condor_version does not run here; is it made for another system or"
            " processor?",
            transient=False,
        )
    if version[:2] < MIN_VERSION:
        numbers = ".".join(map(str, version))
        raise PoolError(
            f"HTCondor {numbers} is too old: {MIN_VERSION_TEXT} or newer is needed",
            transient=False,
        )
    return found


def named_release(named: Path, cache: Path, say: Callable[[str], None]) -> Layout:
    """The release in a directory or tarball, or one level below; arguments as of `find`."""
    try:
        place = named.absolute() if _is_directory(named) else _unpack(named, cache, say)
        return usable(_root_below(place))
    except PoolError as error:
        raise PoolError(f"{named}: {error.reason}", transient=error.transient) from None
    except OSError as error:
        raise PoolError(f"{error.filename}: {error.strerror}", transient=False) from None


def _is_directory(named: Path) -> bool:
    """Whether it is a directory, not the file of a tarball."""
    try:
        mode = named.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise PoolError("there is no such directory or tarball", transient=False) from None
    if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
        raise PoolError("it is neither a directory nor a tarball", transient=False)
    return stat.S_ISDIR(mode)


def _root_below(place: Path) -> Path:
    """The root of the release: `place` itself, or a directory in it."""
    for root in [place, *sorted(place.iterdir())]:
        if any((root / name / "condor_master").exists() for name in ("sbin", "bin")):
            return root
    raise PoolError("there is no HTCondor in it: no sbin/condor_master", transient=False)


def _unpack(tarball: Path, cache: Path, say: Callable[[str], None]) -> Path:
    """Where a tarball is unpacked, which is done once for each content."""
    place = cache / UNPACKED / _content(tarball)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        trust.refuse_others(place if place.exists() else place.parent, fetch.ELSEWHERE)
        if not place.exists():
            with fetch.alone(cache):
                _unpack_into(place, tarball, say)
    except OSError as error:
        raise PoolError(
            f"{error.filename or cache}: {error.strerror}; set XDG_CACHE_HOME to a directory of"
            " your own that has 500 MB free",
            transient=False,
        ) from None
    return place


def _unpack_into(place: Path, tarball: Path, say: Callable[[str], None]) -> None:
    if place.exists():  # another process was first
        return
    say(f"unpacking {tarball} into {place.parent} (once)")
    part = place.with_name("part")
    shutil.rmtree(part, ignore_errors=True)  # of a process that was killed
    try:
        part.mkdir()
        _extract(tarball, part)
        _root_below(part)
        part.rename(place)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _extract(tarball: Path, directory: Path) -> None:
    """Unpack a stranger's tarball: no file gets rights that files of this user do not have."""
    plain = ["--no-same-owner", "--no-same-permissions"]
    try:
        # An absolute path: tar takes what stands before a colon for another machine.
        apt.run(["tar", *plain, "-xf", str(tarball.absolute()), "-C", str(directory)])
    except PoolError as error:
        raise PoolError(
            f"{error.reason}\ndownload it again, or name another", transient=False
        ) from None
    for path in directory.rglob("*"):
        if stat.S_IFMT(path.lstat().st_mode) not in (stat.S_IFDIR, stat.S_IFREG, stat.S_IFLNK):
            raise PoolError(
                f"{path.name} in it is a device or a pipe; name another", transient=False
            )


def _content(tarball: Path) -> str:
    """A name for what is in a file."""
    digest = hashlib.sha256()
    with tarball.open("rb") as stream:
        for piece in iter(lambda: stream.read(1 << 20), b""):
            digest.update(piece)
    return digest.hexdigest()[:16]
