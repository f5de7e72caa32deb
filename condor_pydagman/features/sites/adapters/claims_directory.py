"""The claims of all DAGMans of the access point: see `features.common.adapters.job_claims`.

Here no DAGMan proves that it lives: a claim counts while the DAGMan job is in the queue.  A file is
JSON, and nothing in it is trusted.  It says as well at which sites groups of the DAG wait.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from condor_pydagman.adapters.shared_directory import (
    SharedDirectory,
    Usual,
    failure,
    open_this,
)
from condor_pydagman.errors import FileError
from condor_pydagman.features.common.adapters.job_claims import (
    FileKind,
    JobClaims,
    Line,
    usual_name,
)
from condor_pydagman.features.sites.choice import NOBODY, Side, Waits
from condor_pydagman.named_tuple import NamedTuple

DEFAULT = "/var/tmp/condor_pydagman-sites"  # noqa: S108 - checked, and never trusted
KNOB = "PYDAGMAN_SITES_DIR"
MAX_BYTES = 4_000_000  # of a claims file; more is no claims file
MAX_NAME = 500  # characters of a site's name
MAX_WAITING = 10**9  # groups of a DAG that wait for a site
WAKES = Line("sites")
FILES = FileKind(
    "claims",
    lambda data: parse(data.decode("utf-8", "surrogateescape")),
    MAX_BYTES,
    max_bytes_of_user=20_000_000,
    check_s=60.0,
)


class Claims(NamedTuple):
    """What a DAGMan keeps."""

    dag: str  # its DAG file, for people
    sites: tuple[tuple[str, str], ...]  # group and site of each claim
    waits: Waits = NOBODY  # for which sites other groups wait

    def counts(self) -> Counter[str]:
        """How many claims there are, by site."""
        return Counter(site for _, site in self.sites)


def text_of(dag: str, claims: Iterable[tuple[str, str]], waits: Waits = NOBODY) -> str:
    """The text of a file."""
    known: dict[str, object] = {
        "version": 1,
        "dag": dag,
        "claims": [list(one) for one in claims],
    }
    if waits.sites:
        known["waits"] = [waits.until, waits.address, waits.sites]
    return json.dumps(known) + "\n"


def parse(text: str) -> Claims | None:
    """What a file says; None if it is none of ours."""
    try:
        read = json.loads(text)
        dag, claims = read["dag"], read["claims"]
        sites = tuple((group, site) for group, site in claims)
        waits = _waits(*read["waits"]) if "waits" in read else NOBODY
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        return None
    names = (name for claim in sites for name in claim)
    if not isinstance(dag, str) or not all(isinstance(name, str) for name in names):
        return None
    if any(len(site) > MAX_NAME for site in (*waits.sites, *(site for _, site in sites))):
        return None
    return Claims(dag, sites, waits)


def _waits(until: object, address: object, sites: Mapping[str, tuple[object, object]]) -> Waits:
    if not isinstance(address, str):
        raise TypeError("no address")
    found = {site: (_count(many), _time(since)) for site, (many, since) in sites.items()}
    return Waits(_time(until), address, found)


def _count(value: object) -> int:
    if type(value) is not int or not 0 < value <= MAX_WAITING:
        raise ValueError("no count")
    return value


def _time(value: object) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):  # type: ignore[arg-type]
        raise ValueError("no time")
    return float(value)  # type: ignore[arg-type]


class ClaimsDirectory(JobClaims):
    """The directory, seen by one DAGMan.

    Args:
        path: where it is; '' for the default.
        schedd: name of the schedd whose queue has the DAGMan job; BY_HAND if there is none.
        cluster: of that job; the number of the process if there is none.
        in_queue: which of these clusters are in the queue; PoolError if that is not known.
        say: is told what is unusual.

    Raises:
        FileError: it can't be used.
    """

    def __init__(
        self,
        path: str,
        schedd: str,
        cluster: int,
        in_queue: Callable[[list[int]], set[int]],
        say: Callable[[str], None],
    ) -> None:
        usual = Usual(DEFAULT, KNOB, "claims of sites")
        self._open: Callable[[], SharedDirectory] = lambda: open_this(path, say, usual)
        super().__init__(
            self._open(), FILES, schedd, lambda asked: dict.fromkeys(in_queue(asked), True)
        )
        self._usual = usual_name(FILES, schedd, cluster)

    def follow(self) -> bool:
        """Whether it is another directory from now on: somebody has removed the one before.

        Raises:
            FileError: it can't be used.
        """
        if self.directory.is_in_place():
            return False
        found = self._open()
        self.directory.close()
        self.directory = found
        return True

    @property
    def name(self) -> str:
        """Of the own file.

        Raises:
            FileError: the directory can't be read.
        """
        try:
            return self.directory.name_of_ours(self._usual)
        except OSError as error:
            raise FileError(failure(self.directory.path, error)) from None

    def own(self) -> Claims | None:
        """What the own file says.

        Raises:
            FileError: it can't be read.
        """
        found: Claims | None = self.read(self.name)
        return found

    def others(self, *, exactly: bool = True) -> list[Side]:
        """What other DAGs have, and what they wait for as their files say.

        Args:
            exactly: ask the queue, if it is not known which claims count.

        Raises:
            FileError: the directory can't be read.
            PoolError: it is not known which claims count.
        """
        look = self.counting_now if exactly else self.counting
        return [Side(one.name, one.says.counts(), one.says.waits) for one in look(self.name)]

    def everything(self) -> list[Claims]:
        """All claims that count; raises as `others`."""
        return [one.says for one in self.counting_now()]

    def write(self, dag: str, kept: Iterable[tuple[str, str]], waits: Waits = NOBODY) -> None:
        """Replace the own file: these groups have these sites, and others wait.

        Raises:
            FileError: it can't be written; the old one is as it was.
        """
        kept = list(kept)
        data = _encoded(dag, kept, waits)
        if len(data) > FILES.max_bytes:  # others would read none of it
            data = _encoded(dag, kept, NOBODY)
        if len(data) > FILES.max_bytes:
            raise FileError(f"the DAG's claims of sites need more than {FILES.max_bytes:,} bytes")
        name = self.name
        try:
            self.directory.replace(name, data)
        except OSError as error:
            raise FileError(failure(f"{self.directory.path}/{name}", error)) from None

    def remove(self) -> None:
        """Give up all claims."""
        self.directory.remove(self.name)


def _encoded(dag: str, kept: Iterable[tuple[str, str]], waits: Waits) -> bytes:
    return text_of(dag, kept, waits).encode("utf-8", "surrogateescape")
