"""Options of fsspec's file systems that can be told without a server."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

from condor_pydagman.placement.endpoints import fsspec_files
from condor_pydagman.placement.endpoints.choose import why_unknown
from tests.waiting import LIMIT_S

REFUSED = """
import time
from condor_pydagman.data_requests.faults import Fault
from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.data_requests.urls import parse_url
from condor_pydagman.placement.endpoints import choose, fsspec_files
from condor_pydagman.placement.way import Surroundings

settings = Settings(connect_timeout_s=2, stall_timeout_s=3)
around = Surroundings(settings, {}, "/", print)
assert fsspec_files.known("root") == ""  # it loads XRootD's client
endpoint = choose.endpoint_for(parse_url("root://127.0.0.1:9//a"), around, "")
try:
    endpoint.read(parse_url("root://127.0.0.1:9//a"), 0)
except Fault as fault:
    print(fault.kind.name)
from XRootD import client
names = "ConnectionWindow", "ConnectionRetry", "RequestTimeout", "StreamErrorWindow"
print(*(client.EnvGetInt(name) for name in names))
"""


@pytest.mark.parametrize(("environment", "window"), [({}, 2), ({"XRD_CONNECTIONWINDOW": "1"}, 1)])
def test_xrootd_s_client_has_our_timeouts(environment: dict[str, str], window: int) -> None:
    pytest.importorskip("fsspec_xrootd")
    done = subprocess.run(
        [sys.executable, "-c", REFUSED],
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.stdout.split("\n")[:2] == ["SERVER", f"{window} 1 3 0"], done.stderr


def test_what_pelican_needs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    for scheme in ("osdf", "pelican"):
        assert fsspec_files.known(scheme).startswith(
            f"for {scheme}, pelicanfs is needed: pip install 'condor_pydagman[pelican]'"
        )


@pytest.mark.parametrize(
    ("scheme", "what"),
    [
        ("s3", "condor_pydagman[transfer]"),
        ("root", "condor_pydagman[transfer]"),
        ("osdf", "condor_pydagman[pelican]"),
        ("srm", "it does not know srm"),
    ],
)
def test_without_packages_it_says_what_to_install(
    scheme: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What helps, and nothing else."""
    for name in ("fsspec", "pelicanfs"):
        monkeypatch.setitem(sys.modules, name, None)
    assert what in why_unknown(scheme)
    assert ("fsspec" in why_unknown(scheme)) == ("[transfer]" in what)
