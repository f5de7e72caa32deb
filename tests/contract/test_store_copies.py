"""A store copies between its buckets itself: nothing passes through the access point."""

from __future__ import annotations

import os
import threading
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.requests import Transfer
from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.data_requests.urls import parse_url
from condor_pydagman.errors import PoolError
from condor_pydagman.placement.direct_way import DirectWay
from condor_pydagman.placement.endpoints import choose
from condor_pydagman.placement.endpoints.fsspec_files import FsspecFiles
from condor_pydagman.placement.way import Progress, Surroundings
from tests.servers.real import SERVERS
from tests.waiting import LIMIT_S

DATA = os.urandom(6_000_000)
FROM, TO = parse_url("s3://bucket/a b"), parse_url("s3://other/d/b")


@pytest.fixture(scope="module")
def around(tmp_path_factory: pytest.TempPathFactory, notices: list[str]) -> Iterator[Surroundings]:
    directory = tmp_path_factory.mktemp("s3")
    try:
        with SERVERS["s3"](directory) as server:
            address = server.environment["AWS_ENDPOINT_URL"]
            made = urllib.request.Request(f"{address}/other", method="PUT")
            urllib.request.urlopen(made, timeout=LIMIT_S).close()
            settings = Settings(
                connect_timeout_s=LIMIT_S,
                stall_timeout_s=LIMIT_S,
                directory=str(directory / "shared"),
            )
            around = Surroundings(settings, server.environment, "/", lambda text: None)
            with choose.endpoint_for(FROM, around) as endpoint:
                writer = endpoint.write(FROM, 0, len(DATA))
                writer.write(memoryview(DATA))
                writer.commit()
            yield around
    except PoolError as error:
        notices.append(f"*** NO s3 SERVER: {error} ***")
        pytest.skip(f"no S3 server: {error}")


def move(around: Surroundings) -> str:
    way = DirectWay()
    try:
        progress = Progress(threading.Event())
        outcome = way.perform(Transfer(FROM, TO), around, progress)
    finally:
        way.thread_ends()
    with choose.endpoint_for(TO, around) as endpoint:
        entry = endpoint.look(TO)
        assert entry is not None
        assert entry.size == outcome.size == len(DATA)
        endpoint.remove(TO)
    return outcome.way


def test_from_bucket_to_bucket(around: Surroundings, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_data(*_: Any) -> None:
        raise AssertionError("it passes through")

    monkeypatch.setattr(FsspecFiles, "read", no_data)
    assert move(around) == "direct s3-s3 (copied by the service)"


def test_a_store_that_refuses_to(around: Surroundings, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: Any) -> bool:
        raise Fault(FaultKind.REFUSED, "NotImplemented")

    monkeypatch.setattr(FsspecFiles, "copy", refuses)
    assert move(around) == "direct s3-s3"
