"""Fetch packages with the machine's own apt, as any user and without installing anything.

Everything apt writes goes below a directory of ours; the archive's address and the keys come from
the machine.  What apt prints is taken apart by pure functions here.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from condor_pydagman.errors import PoolError

# Packages that libraries depend on but do not load.
NOT_LIBRARIES = re.compile(r"^libjs-|-perl$|-data$|^libdebconf")


@dataclass(frozen=True)
class Archive:
    """A package archive that this machine uses: address, distribution, component."""

    address: str
    distribution: str
    component: str


class Apt:
    """apt-get and apt-cache with lists, caches and a source list of their own.

    Args:
        home: directory for all of it; made if absent.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        for name in ("lists/partial", "cache/archives/partial", "state", "debs"):
            (home / name).mkdir(parents=True, exist_ok=True)

    def use(self, source: str) -> None:
        """Make `source`, a line of sources.list(5), the only one, and read its index.

        Raises:
            PoolError: the archive can't be reached or has no such suite.
        """
        self._sources.write_text(source + "\n", encoding="utf-8")
        self._run(["apt-get", *self._options(), "update", "--error-on=any"])

    def version(self, package: str) -> str:
        """The version that would be fetched; '' if there is none."""
        return parse_madison(self._run(["apt-cache", *self._options(), "madison", package]))

    def libraries(self, packages: Iterable[str]) -> list[str]:
        """`packages` and every library package that they need, and those need, and so on."""
        command = ["apt-cache", *self._options(), "depends", "--important"]
        known: list[str] = []
        layer = list(packages)
        while layer:
            known += layer
            needed = parse_depends(self._run([*command, *layer]))
            layer = [name for name in needed if name not in known and is_library(name)]
        return known

    def unpack(self, packages: Iterable[str], prefix: Path) -> None:
        """Fetch the packages and unpack them below `prefix`, running none of their scripts."""
        debs = self.home / "debs"
        self._run(["apt-get", *self._options(), "download", *packages], cwd=debs)
        for deb in sorted(debs.glob("*.deb")):
            self._run(["dpkg", "-x", str(deb), str(prefix)])

    @property
    def _sources(self) -> Path:
        return self.home / "sources.list"

    def _options(self) -> list[str]:
        settings = {
            "Dir::Etc::SourceList": self._sources,
            "Dir::Etc::SourceParts": "/dev/null",
            "Dir::State": self.home / "state",
            "Dir::State::Status": "/dev/null",  # else a newer one that is installed is asked for
            "Dir::State::Lists": self.home / "lists",
            "Dir::Cache": self.home / "cache",
            "APT::Sandbox::User": "root",  # root's private directories are closed to _apt
            "Acquire::Languages": "none",
            "Acquire::Retries": "3",
            "Debug::NoLocking": "true",
        }
        return ["-q"] + [f"-o{name}={value}" for name, value in settings.items()]

    @staticmethod
    def _run(command: list[str], cwd: Path | None = None) -> str:
        return run(command, cwd)


def run(command: list[str], cwd: Path | None = None) -> str:
    """Output of a command that must succeed.

    Raises:
        PoolError: it did not; the message has the last lines of what it said.
    """
    try:
        done = subprocess.run(
            ["env", "LC_ALL=C", *command],
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise PoolError(f"{command[0]}: {error.strerror}", transient=False) from None
    if done.returncode:
        said = "\n".join((done.stderr or done.stdout).strip().splitlines()[-4:])
        words = " ".join(word for word in command if not word.startswith("-"))
        raise PoolError(f"{words} failed:\n{said}", transient=True)
    return done.stdout


def available() -> bool:
    """Whether this machine has what is needed to fetch and unpack Debian packages."""
    return all(shutil.which(program) for program in ("apt-get", "apt-cache", "dpkg"))


def archives() -> list[Archive]:
    """The archives in the machine's own apt configuration, whether read before or not."""
    text = run(
        [
            "apt-get",
            "indextargets",
            "--no-release-info",
            "--format",
            "$(REPO_URI) $(RELEASE) $(COMPONENT)",
            "Created-By: Packages",
        ]
    )
    return parse_indextargets(text)


def parse_indextargets(text: str) -> list[Archive]:
    """Archives from lines `address distribution component`, in order, each once."""
    fields = [line.split() for line in text.splitlines()]
    return list(dict.fromkeys(Archive(*words) for words in fields if len(words) == 3))


def mirrors(known: Iterable[Archive], codename: str) -> list[str]:
    """Addresses of the distribution's own archive: the one with a `main` of the release in use.

    Args:
        known: archives in the machine's configuration.
        codename: VERSION_CODENAME of os-release(5); '' if it has none.
    """
    main = [entry for entry in known if entry.component == "main"]
    release = [entry for entry in main if entry.distribution in (codename, "stable")]
    rolling = [entry for entry in main if entry.distribution in ("testing", "unstable", "sid")]
    return list(dict.fromkeys(entry.address for entry in release + rolling))


def parse_madison(text: str) -> str:
    """Highest version in the output of `apt-cache madison`, which lists it first."""
    for line in text.splitlines():
        fields = [field.strip() for field in line.split("|")]
        if len(fields) == 3 and "Packages" in fields[2]:
            return fields[1]
    return ""


def parse_depends(text: str) -> list[str]:
    """Names that `apt-cache depends` gives as needed, in order, each once; no virtual ones."""
    found = re.findall(r"^ [ |](?:Pre)?Depends: ([^<\s]\S*)", text, re.MULTILINE)
    return list(dict.fromkeys(name.partition(":")[0] for name in found))


def is_library(package: str) -> bool:
    """Whether a package holds shared libraries, by Debian's naming rules."""
    return package.startswith(("lib", "zlib1g")) and not NOT_LIBRARIES.search(package)
