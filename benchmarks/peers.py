"""Other programs that a user would consider for the same work, and how a chain and a bag are run.

Those in Python are installed by pip into an environment of their own, below `var/` of the checkout:
neither the package nor its tests need them.  Makeflow is used if it is on PATH; else Debian's is
unpacked there.  A peer that can't be had is not measured.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from benchmarks import peers_files
from benchmarks.place import HERE, Failed
from condor_pydagman.errors import PoolError
from condor_pydagman.pool import apt, fetch

HOME = HERE.parent / "var" / "peers"  # kept from run to run
PACKAGES = {
    "parsl": "Parsl",
    "distributed": "Dask",
    "hyperqueue": "HyperQueue",
    "snakemake": "Snakemake",
    "luigi": "Luigi",
}
MAKEFLOW = "Makeflow"
MAKEFLOW_PACKAGE = "coop-computing-tools"
LIMIT_S = 600  # for one run of a peer
# It is built with MPI, which it initializes at each start; no processes of that are of use.
_MAKEFLOW = """\
#!/bin/sh
export OPAL_PREFIX={prefix}/usr OMPI_MCA_ess_singleton_isolated=1
export OMPI_MCA_mca_base_component_show_load_errors=0
LD_LIBRARY_PATH={libraries} exec {prefix}/usr/bin/makeflow "$@"
"""
_VERSIONS = """
import importlib.metadata as known, json, sys
there = {one.metadata["Name"].lower(): one.version for one in known.distributions()}
print(json.dumps({name: there[name] for name in sys.argv[1:] if name in there}))
"""


class Peer(NamedTuple):
    """One program, used as its documentation says for one machine.

    Attributes:
        title: how tables call it.
        program: what its versions are known by.
        argv: kind ('chain' or 'bag') and number of tasks -> its command; it may write files into
            the directory given, in which the command is run.
        done: pattern of the files that say which tasks have been done; '' if the end of the
            program without an error says so.
        pool: its tasks are jobs of the pool, as those of DAGMan.
    """

    title: str
    program: str
    argv: Callable[[str, int, Path], list[str]]
    done: str = ""
    pool: bool = False


def _driver(name: str, *words: str) -> Callable[[str, int, Path], list[str]]:
    def argv(kind: str, count: int, _: Path) -> list[str]:
        return [str(python()), str(HERE / f"{name}.py"), *words, kind, str(count)]

    return argv


def _snakemake(kind: str, count: int, directory: Path) -> list[str]:
    (directory / "Snakefile").write_text(peers_files.snakefile(kind, count), encoding="ascii")
    return [str(HOME / "bin" / "snakemake"), "--cores", "all", "--quiet"]


def _makeflow(batch: str, *words: str) -> Callable[[str, int, Path], list[str]]:
    def argv(kind: str, count: int, directory: Path) -> list[str]:
        (directory / "Makeflow").write_text(peers_files.makeflow(kind, count), encoding="ascii")
        return ["makeflow", "-T", batch, *words, "Makeflow"]

    return argv


_FILES, _TARGETS = f"{peers_files.DONE}/*", f"{peers_files.TARGET}*"
PEERS = {
    "parsl-htex": Peer("Parsl, processes", "Parsl", _driver("peers_parsl", "htex")),
    "parsl-threads": Peer("Parsl, threads", "Parsl", _driver("peers_parsl", "threads")),
    "dask": Peer("Dask", "Dask", _driver("peers_dask")),
    "hyperqueue": Peer("HyperQueue", "HyperQueue", _driver("peers_hyperqueue")),
    "snakemake": Peer("Snakemake", "Snakemake", _snakemake, _FILES),
    "luigi-local": Peer("Luigi", "Luigi", _driver("peers_luigi", "local"), _FILES),
    "luigi-central": Peer("Luigi, luigid", "Luigi", _driver("peers_luigi", "central"), _FILES),
    "makeflow-local": Peer("Makeflow", MAKEFLOW, _makeflow("local"), _TARGETS),
    "makeflow-condor": Peer("Makeflow, HTCondor", MAKEFLOW, _makeflow("condor"), _TARGETS, True),
}


def python() -> Path:
    """The Python of the peers."""
    return HOME / "bin" / "python"


def install(say: Callable[[str], None]) -> None:
    """Install what is not there; tells what can't be had."""
    there = versions()
    if MAKEFLOW not in there:
        say(f"unpacking {MAKEFLOW_PACKAGE} into {HOME}")
        try:
            _unpack_makeflow()
        except PoolError as error:
            say(f"  {error}")
    missing = [name for name, title in PACKAGES.items() if title not in there]
    if not missing:
        return
    say(f"installing {', '.join(missing)} into {HOME}")
    try:
        if not python().exists():
            _do([sys.executable, "-m", "venv", str(HOME)])
        for name in missing:  # one that can't be had does not keep others away
            try:
                _do([str(python()), "-m", "pip", "install", "--quiet", name])
            except Failed as error:
                say(f"  {error}")
    except Failed as error:
        say(f"  {error}")


def _unpack_makeflow() -> None:
    """Fetch Debian's package and the libraries that it needs, as any user; PoolError if there is
    none."""
    if not apt.available():
        raise PoolError("this machine has no apt-get to fetch it with", transient=False)
    archive, prefix = apt.Apt(HOME / "apt"), HOME / "debian"
    system, release = fetch.debian_or_ubuntu()
    mirror = next(iter(apt.mirrors(apt.archives(), release)), "")
    archive.use(fetch.source_line(system, mirror, release, fetch.keyring(system)))
    packages = archive.libraries([MAKEFLOW_PACKAGE])
    # The machine's C library is of the same release.
    archive.unpack([name for name in packages if name != "libc6"], prefix)
    libraries = [str(path) for path in prefix.glob("**/lib/*-linux-gnu")]
    made = HOME / "bin" / "makeflow"
    made.parent.mkdir(exist_ok=True)
    made.write_text(_MAKEFLOW.format(libraries=":".join(libraries), prefix=prefix))
    made.chmod(0o755)
    shutil.rmtree(archive.home)


def _do(argv: list[str]) -> None:
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise Failed(f"{' '.join(argv)}: {''.join(said)}")


def versions() -> dict[str, str]:
    """Versions of the programs that are there."""
    found = {}
    if python().exists():
        argv = [str(python()), "-I", "-c", _VERSIONS, *PACKAGES]
        told = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=False).stdout
        found = {PACKAGES[name]: version for name, version in json.loads(told or "{}").items()}
    makeflow = shutil.which("makeflow", path=f"{HOME / 'bin'}:{os.environ['PATH']}")
    if makeflow:
        argv = [makeflow, "--version"]
        told = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=False).stdout
        version = re.search(r"version (\S+)", told)
        if version:  # else it is there, but does not start
            found[MAKEFLOW] = version[1]
    return found


def command(peer: Peer, kind: str, count: int, directory: Path, path: str) -> list[str]:
    """A peer's command, which is ended after LIMIT_S.

    Args:
        path: the PATH of what is run in the pool; Parsl starts its own programs by their names.
    """
    environment = ["env", f"PATH={HOME / 'bin'}:{path}"]
    return ["timeout", "-k", "5", str(LIMIT_S), *environment, *peer.argv(kind, count, directory)]
