"""What is said where libcurl can't be used, or lacks something."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pycurl
import pytest

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.placement.direct_way import DirectWay
from condor_pydagman.placement.endpoints import curl_names
from condor_pydagman.placement.endpoints import libcurl as libcurl_module
from condor_pydagman.placement.endpoints.choose import CURL_SCHEMES, why_unknown
from condor_pydagman.placement.endpoints.libcurl import Session
from condor_pydagman.placement.rules.ways import no_way
from condor_pydagman.placement.way import Surroundings
from tests.placement.helpers import progress, transfer

PYCURL = pycurl.version.split()[0].removeprefix("PycURL/")
PACKAGES = ("condor_pydagman[transfer]", "apt install python3-pycurl", "dnf install python3-pycurl")


@pytest.fixture
def libcurl(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Lets pycurl tell of another libcurl."""

    def set_version(number: int, text: str, *protocols: str) -> None:
        told = (11, text, number, "Linux", 0, "GnuTLS", 0, "1.3", protocols)
        monkeypatch.setattr(pycurl, "version_info", lambda: told)

    return set_version


@pytest.mark.parametrize("scheme", CURL_SCHEMES)
def test_without_pycurl(monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    monkeypatch.setitem(sys.modules, "pycurl", None)
    why = why_unknown(scheme)
    assert f"{scheme} needs pycurl" in why
    for package in PACKAGES:
        assert package in why


def test_the_ways_that_are_left_are_named(
    monkeypatch: pytest.MonkeyPatch, surroundings: Surroundings
) -> None:
    monkeypatch.setitem(sys.modules, "pycurl", None)
    wish = transfer("https://data.example/a", "/tmp/b")
    why = DirectWay().obstacle(wish, surroundings)
    fault = no_way(wish, [("direct", why), ("plugin", "none is configured")])
    assert re.search("direct: https needs pycurl .*; plugin: none is configured", fault.reason)
    with pytest.raises(Fault, match="https needs pycurl") as error:
        DirectWay().perform(wish, surroundings, progress())
    assert error.value.kind is FaultKind.NO_WAY


def test_a_pycurl_for_another_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "pycurl.py").write_text("raise ImportError('another ssl backend (gnutls)')")
    monkeypatch.delitem(sys.modules, "pycurl")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "another ssl backend (gnutls)" in why_unknown("http")


@pytest.mark.parametrize(("scheme", "lacks"), [("davs", "https"), ("ftps", "ftps"), ("ftp", "ftp")])
def test_a_libcurl_without_a_protocol(
    libcurl: Callable[..., None], scheme: str, lacks: str
) -> None:
    libcurl(0x080000, "8.0.0", "http", "file")
    assert f"libcurl 8.0.0 that pycurl uses was built without {lacks}:" in why_unknown(scheme)
    assert why_unknown("dav") == ""


def test_a_libcurl_that_is_too_old(libcurl: Callable[..., None]) -> None:
    libcurl(0x073D00, "7.61.0", "http")
    assert "needs libcurl 7.71 or newer, and pycurl has 7.61.0" in why_unknown("http")


def test_a_pycurl_that_lacks_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in curl_names.NAMES:
        with monkeypatch.context() as without:
            without.delattr(pycurl, name)
            why = why_unknown("ftp")
            assert f"ftp needs a newer pycurl than PycURL/{PYCURL}, which lacks {name}:" in why
    assert why_unknown("ftp") == ""


def test_every_name_is_looked_for() -> None:
    """But those that are looked for where they are used, or are in all."""
    used = {"PROXY_CAINFO", "PROXY_CAPATH", "CAINFO", "CAPATH"}
    for path in Path(curl_names.__file__).parent.glob("*.py"):
        used |= set(re.findall(r"\bpycurl\.(\w+)", path.read_text()))
    assert sorted(used - {"version", "version_info"}) == sorted(curl_names.NAMES)


class Without:
    """A handle of a libcurl that was built without some options."""

    def __init__(self, code: int, *options: int) -> None:
        self._code = code
        self._options = options
        self._easy = pycurl.Curl()

    def setopt(self, option: int, value: object) -> None:
        if option in self._options:
            raise pycurl.error(self._code, "a message")
        self._easy.setopt(option, value)

    def __getattr__(self, name: str) -> object:
        return getattr(self._easy, name)


@pytest.mark.parametrize("code", [pycurl.E_NOT_BUILT_IN, pycurl.E_UNKNOWN_OPTION])
def test_options_that_there_is_a_doing_without(surroundings: Surroundings, code: int) -> None:
    with contextlib.closing(Session(surroundings)) as session:
        session._easy = Without(code, *libcurl_module._DISPENSABLE, pycurl.PROXY, pycurl.NOPROXY)
        session._set({pycurl.CAPATH: "/x"})
        with pytest.raises(Fault, match=r"without PROXY \(PycURL/") as error:
            session._set({pycurl.PROXY: "http://x"})
    assert (error.value.kind, error.value.transient) == (FaultKind.NO_WAY, False)


@pytest.mark.parametrize("name", ["USE_SSL", "HTTPHEADER", "CAINFO", "UPLOAD", "SSLCERT"])
def test_options_that_there_is_no_doing_without(surroundings: Surroundings, name: str) -> None:
    option = getattr(pycurl, name)
    with contextlib.closing(Session(surroundings)) as session:
        session._easy = Without(pycurl.E_UNKNOWN_OPTION, option)
        with pytest.raises(Fault, match=rf"without {name} \("):
            session._set({option: 1})
        session._easy = Without(pycurl.E_OUT_OF_MEMORY, option)
        with pytest.raises(pycurl.error):
            session._set({option: 1})


def test_local_files_need_no_libcurl(tmp_path: Path) -> None:
    program = (
        "import sys, threading\n"
        "from tests.placement.helpers import *\n"
        "from condor_pydagman.placement.direct_way import DirectWay\n"
        "d = sys.argv[1]\n"
        "DirectWay().perform(transfer(d + '/a', d + '/b'), surroundings(d), progress())\n"
        "assert 'pycurl' not in sys.modules\n"
    )
    (tmp_path / "a").write_text("x")
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True)
    assert (tmp_path / "b").read_text() == "x"
