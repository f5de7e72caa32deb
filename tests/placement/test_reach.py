"""Where connections may lead that a server asks for."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pycurl
import pytest

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.placement.direct_way import DirectWay
from condor_pydagman.placement.endpoints import reach
from condor_pydagman.placement.endpoints.libcurl import Session
from condor_pydagman.placement.endpoints.reach import Reach, kind_of_address
from condor_pydagman.placement.way import Surroundings
from tests.placement.helpers import progress, transfer
from tests.servers.faulty_http import FaultyServer, Wrong, faulty_http


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("127.0.0.1", "loopback"),
        ("127.1", "loopback"),
        ("127.0.0.1.", "loopback"),
        ("2130706433", "loopback"),
        ("0x7f.1", "loopback"),
        ("::1", "loopback"),
        ("::", "loopback"),
        ("[::1]", "loopback"),
        ("::ffff:127.0.0.1", "loopback"),
        ("::127.0.0.1", "loopback"),
        ("64:ff9b::7f00:1", "loopback"),
        ("64:ff9b:1::7f00:1", "loopback"),
        ("2002:7f00:1::", "loopback"),
        ("2001:0:4136:e378:8000:63bf:80ff:fffe", "loopback"),
        ("0.0.0.0", "loopback"),
        ("0.0.0.1", "loopback"),
        ("x.localhost", "loopback"),
        ("localhost.", "loopback"),
        ("169.254.169.254", "link-local"),
        ("::ffff:169.254.169.254", "link-local"),
        ("2002:a9fe:a9fe::", "link-local"),
        ("fe80::1%eth0", "link-local"),
        ("224.0.0.1", "link-local"),
        ("fd00:ec2::254", "metadata"),
        ("100.100.100.200", "metadata"),
        ("64:ff9b::6464:64c8", "metadata"),
        ("metadata.google.internal", "metadata"),
        ("192.0.2.1", ""),
        ("10.0.0.1", ""),
        ("2001:db8::1", ""),
        ("64:ff9b::c000:201", ""),
        ("data.example.org", ""),
        ("", ""),
        ("ä", ""),
    ],
)
def test_kinds_of_addresses(address: str, kind: str) -> None:
    assert kind_of_address(address) == kind


def test_a_server_of_this_machine_may_lead_anywhere() -> None:
    it = Reach("me.example")
    it.check("me.example", "127.0.0.1")
    it.reached("127.0.0.1")
    assert it.is_near
    it.check("localhost", "::1")
    it.check("data.example", "192.0.2.1")


def test_where_a_server_of_this_machine_leads_to_may_not_lead_back() -> None:
    it = Reach("me.example")
    it.reached("127.0.0.1")
    it.leads_on("")
    it.check("data.example", "192.0.2.1")
    it.check("me.example", "127.0.0.1")
    for host, address in (("localhost", "127.0.0.1"), ("cloud", "169.254.169.254")):
        with pytest.raises(Fault, match=r"me\.example leads to"):
            it.check(host, address)
    it.begin()
    it.check("localhost", "127.0.0.1")


def test_a_name_may_not_change_its_address_for_one_of_this_machine() -> None:
    it = Reach("data.example")
    it.check("data.example", "127.0.0.1")  # the first address, where nobody listens
    it.check("data.example", "192.0.2.1")
    it.reached("192.0.2.1")
    with pytest.raises(Fault, match=r"data\.example, which is a loopback address") as error:
        it.check("data.example", "127.0.0.1")
    assert error.value.kind is FaultKind.REFUSED


def test_a_server_of_the_link_may_lead_to_itself_only() -> None:
    it = Reach("disk.local")
    it.reached("169.254.1.1")
    it.check("disk.local", "169.254.1.1")
    for host, address in (("cloud", "169.254.169.254"), ("me", "127.0.0.1")):
        with pytest.raises(Fault, match="leads to"):
            it.check(host, address)


@pytest.fixture
def only_127_0_0_2_is_near(monkeypatch: pytest.MonkeyPatch) -> None:
    own = {"127.0.0.2": "loopback"}
    monkeypatch.setattr(reach, "kind_of_address", lambda address: own.get(address, ""))


@pytest.mark.usefixtures("only_127_0_0_2_is_near")
@pytest.mark.parametrize("name", ["127.0.0.2", "private.example", "127.0.0.1"])
def test_a_server_from_elsewhere_can_not_lead_to_this_machine(
    server: FaultyServer,
    surroundings: Surroundings,
    tmp_path: Path,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By whatever name, its own included: not even the connection is made."""
    real = Session.begin
    begun: list[str] = []

    def begin(session: Session, url: str, host: str, options: Mapping[int, Any]) -> None:
        """The second address of the server's own name is another one."""
        begun.append(url)
        moved = [] if len(begun) == 1 else ["::127.0.0.2:"]
        real(session, url, host, {**options, pycurl.CONNECT_TO: moved})

    monkeypatch.setattr(Session, "begin", begin)
    with socket.create_server(
        ("127.0.0.2", server.server_address[1] if name == "127.0.0.1" else 0)
    ) as private:
        place = f"{name}:{private.getsockname()[1]}"
        closing = (("Location", f"http://{place}/x"), ("Connection", "close"))
        server.fail("/a", Wrong(status=302, headers=closing))
        way = DirectWay()
        with pytest.raises(Fault, match=f"leads to {name}, which is a loopback address"):
            wanted = transfer(server.url("/a"), str(tmp_path / "b"))
            way.perform(wanted, surroundings, progress())
        way.thread_ends()
        private.setblocking(False)
        with pytest.raises(BlockingIOError):
            private.accept()


@pytest.mark.parametrize("is_known", [False, True])
def test_a_server_of_this_machine_leads_elsewhere_which_does_not_lead_back(
    surroundings: Surroundings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_known: bool
) -> None:
    """Nor over a connection that there is already."""
    near = {"127.0.0.1": "loopback", "127.0.0.3": "loopback"}
    monkeypatch.setattr(reach, "kind_of_address", lambda address: near.get(address, ""))

    def leading_to(url: str) -> Wrong:
        return Wrong(status=302, headers=(("Location", url), ("Content-Length", "0")))

    with faulty_http("0.0.0.0") as server:
        here, elsewhere, private = (
            f"http://127.0.0.{number}:{server.server_address[1]}" for number in (1, 2, 3)
        )
        server.files["/x"] = b"x"
        server.fail("/known", leading_to(f"{private}/x"))
        server.fail("/a", leading_to(f"{elsewhere}/b"))
        server.fail("/b", leading_to(f"{private}/x"))
        way = DirectWay()
        if is_known:
            way.perform(transfer(f"{here}/known", str(tmp_path / "k")), surroundings, progress())
        with pytest.raises(Fault, match=r"leads to 127\.0\.0\.3, which is a loopback address"):
            way.perform(transfer(f"{here}/a", str(tmp_path / "b")), surroundings, progress())
        way.thread_ends()
