"""DAGs of the torture test of data placement: units that are staged in, worked on, staged out and
fetched back, each in a way of its own; what every file must be is known before they run."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import NamedTuple

RETRIES = 50
_SUCCESS = re.compile(r"Node (\S+) job proc \((\d+)\.\d+\.\d+\) completed successfully\.")
JOB = """\
#!/bin/sh
# join.sh UNIT CLUSTER: make one file of those that were staged in.
set -e
cat in/$1/* >work/$1.new
mv work/$1.new work/$1
echo "$1 $2" >>ledger
"""
SUBMIT = """\
universe = scheduler
executable = join.sh
arguments = $(unit) $(CLUSTER)
queue
"""
# A module, and a process that it leaves behind, which must not write after its end.
MODULE = """\
#!/bin/sh
to=${2#file://}
from=/${1#mod://host/}
head -c 1000 "$from" >"$to"
(sleep 2; echo late >>"$to") &
sleep 0.7
cat "$from" >"$to"
"""
IN = ("http", "checksum", "several", "ftp", "directory", "local", "elsewhere", "module")
OUT = ("local", "ftp", "http")


class Place(NamedTuple):
    """Where a file is to be: below the DAG's directory (''), the "ftp" server or the "http"
    server."""

    where: str
    path: str


class Servers(NamedTuple):
    """URLs of the servers, without a `/` at the end, and a port at which nobody listens."""

    http: str
    ftp: str
    dead_port: int


class DataDag(NamedTuple):
    """A DAG.

    Attributes:
        text: of the DAG file.
        files: what belongs beside it, by name.
        sources: what is to be fetched.
        makes: by node, what is to be where when it is done.
    """

    text: str
    files: dict[str, bytes]
    sources: dict[Place, bytes]
    makes: dict[str, dict[Place, bytes]]

    def contents(self) -> dict[Place, bytes]:
        """All that is made."""
        return {place: data for made in self.makes.values() for place, data in made.items()}


def draw(name: str, work: Path, random: Random, units: int, servers: Servers) -> DataDag:
    """A DAG with so many units.

    Args:
        name: of the DAG, which the names of its files on the servers begin with.
        work: its directory.
    """
    return _Drawing(name, work, random, servers).draw(units)


class _Drawing:
    def __init__(self, name: str, work: Path, random: Random, servers: Servers) -> None:
        self._name, self._work, self._random, self._servers = name, work, random, servers
        self._lines: list[str] = []
        self._dag = DataDag("", {"join.sh": JOB.encode(), "join.sub": SUBMIT.encode()}, {}, {})

    def draw(self, units: int) -> DataDag:
        who = f'dest_host = "scratch"; allocation_id = "{self._name}";'
        self._data("space", [f'dap_type = "allocate"; {who} size = "200MB"; '], {})
        self._data("free", [f'dap_type = "release"; {who} '], {})
        kinds = [IN[number % len(IN)] for number in range(units)]
        for number, kind in enumerate(kinds):
            self._unit(f"u{number}", kind, OUT[number % len(OUT)])
        return self._dag._replace(text="\n".join(self._lines) + "\n")

    def _unit(self, unit: str, kind: str, out: str) -> None:
        joined = self._stage_in(unit, kind)
        self._lines += [f"JOB job-{unit} join.sub", f'VARS job-{unit} unit="{unit}"']
        self._dag.makes[f"job-{unit}"] = {Place("", f"work/{unit}"): joined}
        to = Place({"local": ""}.get(out, out), f"{self._name}/out/{unit}")
        self._data(f"out-{unit}", [_transfer(f"work/{unit}", self._url(to))], {to: joined})
        back = Place("", f"back/{unit}")
        more = f'checksum = "sha256:{hashlib.sha256(joined).hexdigest()}"; '
        self._data(f"back-{unit}", [_transfer(self._url(to), back.path, more)], {back: joined})
        order = ("space", f"in-{unit}", f"job-{unit}", f"out-{unit}", f"back-{unit}", "free")
        self._lines += [f"PARENT {one} CHILD {two}" for one, two in zip(order, order[1:])]

    def _stage_in(self, unit: str, kind: str) -> bytes:
        """Its DATA node; what the job makes of the files."""
        count = {"several": 6, "directory": 30}.get(kind, 1)
        where = {"ftp": "ftp", "directory": "ftp", "elsewhere": "ftp"}.get(kind, "http")
        where = "" if kind in ("local", "module") else where
        size = 40_000 if count > 1 else 2_000_000
        found: dict[Place, bytes] = {}
        requests = []
        for number in range(count):
            place = Place(where, f"{self._name}/src/{unit}/{number:02}")
            data = self._random.randbytes(self._random.randrange(1, size))
            self._dag.sources[place] = data
            made = Place("", f"in/{unit}/{number:02}")
            found[made] = data
            requests.append(_transfer(*self._ends(place, made, kind), self._keys(kind, data)))
        if kind == "directory":
            requests = [_transfer(f"{self._servers.ftp}/{self._name}/src/{unit}/", f"in/{unit}/")]
        self._data(f"in-{unit}", requests, found)
        return b"".join(found.values())

    def _ends(self, source: Place, made: Place, kind: str) -> tuple[str, str]:
        url = self._url(source)
        if kind == "module":
            url = f"mod://host{self._work}/{source.path}"
        if kind == "elsewhere":
            host = self._servers.ftp.partition("://")[2].rpartition(":")[0]
            url = f"http://{host}:{self._servers.dead_port}/{source.path}"
        return url, made.path

    def _keys(self, kind: str, data: bytes) -> str:
        if kind == "elsewhere":
            port = self._servers.ftp.rpartition(":")[2]
            return f'alt_protocols = "ftp:{port}-file"; '
        if kind == "checksum":
            return f'checksum = "sha256:{hashlib.sha256(data).hexdigest()}"; '
        return f'allocation_id = "{self._name}"; ' if kind == "http" else ""

    def _url(self, place: Place) -> str:
        base = {"ftp": self._servers.ftp, "http": self._servers.http}.get(place.where)
        return f"{base}/{place.path}" if base else str(self._work / place.path)

    def _data(self, node: str, requests: list[str], makes: Mapping[Place, bytes]) -> None:
        text = "".join(f"[ {one}]\n" for one in requests)
        self._dag.files[f"{node}.dap"] = text.encode()
        self._dag.makes[node] = dict(makes)
        self._lines += [f"DATA {node} {node}.dap", f"RETRY {node} {RETRIES}"]


def _transfer(source: str, destination: str, more: str = "") -> str:
    ends = f'src_url = "{source}"; dest_url = "{destination}"; '
    return f'dap_type = "transfer"; {ends}{more}'


def successes(dagman_out: str) -> Iterator[tuple[str, int]]:
    """Nodes, and the clusters in which they have succeeded, as often as DAGMan has said so."""
    for node, cluster in _SUCCESS.findall(dagman_out):
        yield node, int(cluster)


def words_of(pid: int) -> bytes:
    """The command line of a process, with a zero byte behind each word; b'' if there is none."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""
