"""The way gfal with the real gfal2 and XRootD's server; skipped where gfal2 can't be imported.

The server allows no copies between servers: what is shown is that gfal2 says so, and what it does
where data may pass through this machine.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.requests import Transfer
from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.data_requests.urls import parse_url
from condor_pydagman.errors import PoolError
from condor_pydagman.placement.gfal_way import GfalWay, module_directory
from condor_pydagman.placement.way import Surroundings
from tests.placement.helpers import progress
from tests.servers.real import Server, xrootd
from tests.waiting import LIMIT_S

DATA = os.urandom(3_000_000)


@pytest.fixture(scope="module")
def servers(notices: list[str]) -> Iterator[tuple[Server, Server]]:
    """Two, whose users may write what another user has made."""
    if not module_directory():
        notices.append("*** THE WAY gfal WAS NOT TRIED: python3-gfal2 is not installed ***")
        pytest.skip("python3-gfal2 is not installed")
    directories = [Path(tempfile.mkdtemp(dir="/var/tmp")) for _ in range(2)]
    before = os.umask(0o022)
    try:
        for directory in directories:
            directory.chmod(0o755)
        with xrootd(directories[0]) as one, xrootd(directories[1]) as two:
            yield one, two
    except PoolError as error:
        notices.append(f"*** NO root SERVER: {error} ***")
        pytest.skip(f"no XRootD server: {error}")
    finally:
        os.umask(before)
        for directory in directories:
            shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    settings = Settings(directory=str(tmp_path), connect_timeout_s=LIMIT_S, stall_timeout_s=LIMIT_S)
    return Surroundings(settings, dict(os.environ), str(tmp_path), print)


def transfer(source: str, destination: str, direct: bool = False) -> Transfer:
    ways = ("gfal", "direct") if direct else ("gfal",)
    return Transfer(parse_url(source), parse_url(destination), ways=ways)


def test_a_file_goes_there_and_to_another_server_and_back(
    servers: tuple[Server, Server], around: Surroundings, tmp_path: Path
) -> None:
    one, two = (server.url for server in servers)
    way = GfalWay(lambda *_: "")
    (tmp_path / "made").write_bytes(DATA)
    size = len(DATA)
    told = way.perform(transfer(f"{tmp_path}/made", f"{one}d/a b"), around, progress())
    assert told == ("gfal file-root", size, size, False)
    told = way.perform(transfer(f"{one}d/a b", f"{tmp_path}/got"), around, progress())
    assert told.size == size
    assert (tmp_path / "got").read_bytes() == DATA
    with pytest.raises(Fault, match="no copy from server to server") as caught:
        way.perform(transfer(f"{one}d/a b", f"{two}y", direct=True), around, progress())
    assert (caught.value.kind, caught.value.transient) == (FaultKind.REFUSED, False)
    files = servers[0].directory
    assert files is not None
    assert [path.name for path in (files / "d").iterdir()] == ["a b"]


def test_what_is_missing(servers: tuple[Server, Server], around: Surroundings) -> None:
    one, two = (server.url for server in servers)
    with pytest.raises(Fault) as caught:
        GfalWay(lambda *_: "").perform(transfer(f"{one}nope", f"{two}y"), around, progress())
    assert (caught.value.kind, caught.value.transient) == (FaultKind.MISSING, False)
