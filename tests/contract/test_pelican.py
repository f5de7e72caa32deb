"""osdf and pelican by pelicanfs, at a federation of ours; skipped where pelicanfs is missing.

pelicanfs trusts authorities that it finds when it is loaded, so a process of its own reads.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.servers.pelican import TOKEN, Federation, federation
from tests.waiting import LIMIT_S

READS = """
import json, sys
from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.data_requests.urls import parse_url
from condor_pydagman.placement.endpoints import choose
from condor_pydagman.data_requests.faults import Fault
from condor_pydagman.placement.way import Surroundings

url, what, environment = json.loads(sys.argv[1])
around = Surroundings(Settings(max_retries=0), environment, "/", print)
url = parse_url(url)
try:
    endpoint = choose.endpoint_for(url, around, "")
    if what == "list":
        print(json.dumps(sorted((e.path, e.size) for e in endpoint.files_below(url))))
    elif what == "look":
        print(json.dumps(endpoint.look(url)))
    elif what == "write":
        endpoint.write(url, 0, 3)
    else:
        reader = endpoint.read(url, int(what))
        buffer, found = memoryview(bytearray(100_000)), b""
        while count := reader.readinto(buffer):
            found += buffer[:count]
        print(json.dumps([reader.size, len(found), found[:9].decode()]))
except Fault as fault:
    print(json.dumps([fault.kind.name, fault.transient, fault.reason]))
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Federation]:
    pytest.importorskip("pelicanfs")
    with federation(tmp_path_factory.mktemp("federation")) as found:
        found.cache.files.update({
            "/open/a": b"some data",
            "/open/d/x": b"x" * 9_000_000,
            "/private/a": b"secret",
        })  # fmt: skip
        yield found


def ask(server: Federation, path: str, what: str, **environment: str) -> Any:
    asked = json.dumps([f"pelican://{server.place}{path}", what, environment])
    done = subprocess.run(
        [sys.executable, "-c", READS, asked],
        env={**os.environ, "SSL_CERT_FILE": str(server.authority.file), "HOME": "/nonexistent"},
        capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip
    assert done.stdout, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_files_are_read(server: Federation) -> None:
    assert ask(server, "/open/a", "0") == [9, 9, "some data"]
    assert ask(server, "/open/d/x", "8999990") == [9_000_000, 10, "xxxxxxxxx"]
    assert ask(server, "/open/a", "look")[1] == 9
    # It writes "Bearer None" where it has none.
    asked = [*server.requests, *server.cache.requests]
    of_open = [headers for _, path, headers in asked if path.startswith("/open/")]
    assert {headers.get("Authorization", "") for headers in of_open} <= {"", "Bearer None"}


def test_directories_are_listed(server: Federation) -> None:
    assert ask(server, "/open/", "list") == [["a", 9], ["d/x", 9_000_000]]


def test_a_token_where_the_namespace_needs_one(server: Federation, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(TOKEN)
    assert ask(server, "/private/a", "0", BEARER_TOKEN_FILE=str(token)) == [6, 6, "secret"]
    assert "falsch" not in ask(server, "/private/a", "0", BEARER_TOKEN="falsch")[2]


def test_what_it_can_t_do(server: Federation) -> None:
    assert ask(server, "/open/nope", "look") is None
    assert ask(server, "/open/nope", "0")[:2] == ["MISSING", False]
    assert ask(server, "/open/new", "write")[:2] == ["REFUSED", False]
