"""The text of a pool's configuration."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from condor_pydagman.pool import configuration
from condor_pydagman.pool.release_tree import Layout


@pytest.fixture
def knobs() -> dict[str, str]:
    parts = [Path("/hc") / name for name in ("bin", "sbin", "lib", "libexec", "share")]
    text = configuration.render(
        Layout(Path("/hc"), *parts), Path("/pools/one"), Path("/tmp/s1"), "ann", 16
    )
    return dict(re.findall(r"^(\w+) =[ ]?(.*)$", text, re.MULTILINE))


def test_nothing_is_allowed_to_everybody(knobs: dict[str, str]) -> None:
    allowed = {name: value for name, value in knobs.items() if name.startswith("ALLOW")}
    assert allowed["ALLOW_WRITE"] == "$(POOL_USERS)"
    assert set(allowed.values()) == {"$(POOL_USERS)", ""}
    assert "*" not in knobs["POOL_USERS"]
    assert knobs["POOL_USERS"].startswith("ann@")


def test_it_listens_on_the_loopback_interface(knobs: dict[str, str]) -> None:
    assert knobs["NETWORK_INTERFACE"] == "127.0.0.1"
    assert knobs["COLLECTOR_HOST"] == "127.0.0.1:0"


def test_everything_is_kept_in_the_pools_directory(knobs: dict[str, str]) -> None:
    for name in ("LOG", "SPOOL", "EXECUTE", "LOCK", "LOCAL_DIR", "SEC_PASSWORD_DIRECTORY"):
        assert knobs[name].startswith("/pools/one")
    assert knobs["DAEMON_SOCKET_DIR"] == "/tmp/s1"


def test_slots_have_memory(knobs: dict[str, str]) -> None:
    assert (knobs["NUM_CPUS"], knobs["MEMORY"]) == ("16", "16384")


@pytest.mark.parametrize(
    ("path", "sign"),
    [
        ("/a/b-c_d.1/é", ""),
        ("/a b", " "),
        ("/a$b", "$"),
        ("/a:b", ":"),
        (os.fsdecode(b"/a\xff"), "\udcff"),
    ],
)
def test_unusable_paths(path: str, sign: str) -> None:
    assert configuration.unusable(Path(path)) == sign
