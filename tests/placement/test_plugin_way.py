"""HTCondor's plugins, by ones of ours in each protocol; tests/pool has the real ones."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import pytest

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.placement.plugin_way import PluginWay
from condor_pydagman.placement.way import Outcome, Surroundings
from tests.placement.helpers import program, progress, surroundings, transfer

# A plugin of the newer protocol: what it is to do is part of the URL's path.
SEVERAL = r"""
import os, re, sys, time
if sys.argv[1:] == ["-classad"]:
    open("asked", "a").write("x")
    print('PluginType = "FileTransfer"\nMultipleFileSupport = true')
    print('SupportedMethods = "toy,data"')
    sys.exit(0)
given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
text = open(given["-infile"]).read()
url, path = re.search(r'Url = "(.*?)"; LocalFileName = "(.*?)"', text).groups()
open("seen", "w").write(repr(sys.argv[1:]) + text)
lists = []
for number in filter(str.isdigit, os.listdir("/proc")):
    try:
        lists.append(open(f"/proc/{number}/cmdline").read())
    except OSError:
        pass
assert "hidden" not in "".join(lists)
if "-upload" in sys.argv:
    open("uploaded", "w").write(url + " " + open(path).read())
else:
    open(path, "w").write("some data\n")
result = 'TransferSuccess = true; TransferFileBytes = 10; TransferTotalBytes = 10'
if "404" in url:
    result = 'TransferSuccess = false; TransferError = "HTTP 404 for %s"' % url
if "short" in url:
    result = result.replace("10", "11")
if "garbage" in url:
    result = "TransferSuccess = time("
if "crash" in url:
    sys.exit("%s crashed: no such file" % url)
if "mute" in url:
    sys.exit(0)
if "exit" in url:
    open(given["-outfile"], "w").write("[ TransferSuccess = true ]")
    sys.exit(3)
open(given["-outfile"], "w").write('[ TransferUrl = "%s"; %s ]' % (url, result))
sys.exit("404" in url)
"""
SINGLE = """
if [ "$1" = -classad ]; then
    echo 'PluginType = "FileTransfer"'; echo 'SupportedMethods = "OLD"'; exit 0
fi
echo "$@" > seen
case "$1" in *404*) echo "404 not found" >&2; exit 1;; esac
case "$2" in old://*) cp "$1" uploaded;; *) echo data > "$2";; esac
"""


@pytest.fixture
def plugin_surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Surroundings:
    """Surroundings with plugins of both protocols, and some that are none."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    several = program(tmp_path / "several_plugin", SEVERAL, sys.executable)
    single = program(tmp_path / "single_plugin", SINGLE)
    broken = program(tmp_path / "broken_plugin", "echo ImportError >&2; exit 1")
    other = program(tmp_path / "other_plugin", "echo 'PluginType = \"Other\"'")
    plugins = tuple(map(str, (broken, several, single, other, tmp_path / "gone_plugin")))
    return surroundings(tmp_path, plugins=plugins)


def get(place: Surroundings, url: str, **more: object) -> Outcome:
    asked = transfer(url, f"{place.directory}/got", **more)
    return PluginWay().perform(asked, place, progress())


def test_downloads_and_uploads_with_a_file_of_ads(
    plugin_surroundings: Surroundings, tmp_path: Path
) -> None:
    done = get(plugin_surroundings, 'toy://bob:hidden@h/a"b', checksum="adler32:14fa0379")
    assert done == Outcome("plugin several_plugin", 10, 10)
    assert (tmp_path / "got").read_text() == "some data\n"
    seen = (tmp_path / "seen").read_text()
    assert "toy://bob:hidden@h/a%22b" in seen
    assert "/.got." in seen
    asked = transfer(str(tmp_path / "got"), "toy://bob:hidden@h/d/")
    assert PluginWay().perform(asked, plugin_surroundings, progress()).size == 10
    assert (tmp_path / "uploaded").read_text() == "toy://bob:hidden@h/d/got some data\n"
    with pytest.raises(Fault, match="md5 is"):
        PluginWay().perform(asked._replace(checksum="md5:0"), plugin_surroundings, progress())
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


def test_the_older_protocol(plugin_surroundings: Surroundings, tmp_path: Path) -> None:
    assert get(plugin_surroundings, "old://bob@h/a") == Outcome("plugin single_plugin", 5, 5)
    asked = transfer(str(tmp_path / "got"), "old://h/b")
    PluginWay().perform(asked, plugin_surroundings, progress())
    assert (tmp_path / "uploaded").read_text() == "data\n"
    with pytest.raises(Fault, match="404 not found") as caught:
        get(plugin_surroundings, "old://h/404")
    assert caught.value.kind is FaultKind.MISSING
    with pytest.raises(Fault, match="takes URLs as arguments, and this one has a secret"):
        get(plugin_surroundings, "old://bob:pw@h/a")
    web = program(tmp_path / "web_plugin", SINGLE.replace("OLD", "HTTP"))
    around = plugin_surroundings._replace(
        settings=plugin_surroundings.settings._replace(plugins=(str(web),))
    )
    for url in ("http://token@h/a", "http://h/a?sig=token"):
        assert "a secret" in PluginWay().obstacle(transfer(url, "/a"), around)
    assert PluginWay().obstacle(transfer("http://h/a", "/a"), around) == ""


def test_obstacles(plugin_surroundings: Surroundings, tmp_path: Path) -> None:
    way = PluginWay()

    def obstacle(source: str, destination: str, **more: object) -> str:
        return way.obstacle(transfer(source, destination, **more), plugin_surroundings)

    assert obstacle("toy://h/a", "/b") == ""
    assert obstacle("/b", "toy://h/a") == ""
    ends = "one end must be a file of this machine, the other one not"
    assert obstacle("toy://h/a", "toy://h/b") == ends == obstacle("/a", "/b")
    assert obstacle("toy://h/a/", "/b/") == "it takes single files"
    assert obstacle("/a", "toy://h/b", if_exists="skip") == "it can't tell what is there already"
    why = obstacle("http://h/a", "/b")
    assert "knows http; broken_plugin -classad exited with code 1: ImportError" in why
    assert "other_plugin -classad: it does not call itself" in why
    assert "gone_plugin is not there" in why
    (tmp_path / "several_plugin").chmod(0o777)
    assert PluginWay().obstacle(transfer("toy://h/a", "/b"), plugin_surroundings)
    assert way.obstacle(transfer("toy://h/a", "/b"), surroundings(tmp_path)) == "none is configured"
    gone = surroundings(tmp_path, plugins=(str(tmp_path / "x"), str(tmp_path / "y")))
    assert "configured is there" in way.obstacle(transfer("toy://h/a", "/b"), gone)


def test_a_plugin_is_asked_once_for_each_version(
    plugin_surroundings: Surroundings, tmp_path: Path
) -> None:
    way = PluginWay()
    for _ in range(5):
        assert not way.obstacle(transfer("toy://h/a", "/b"), plugin_surroundings)
    assert (tmp_path / "asked").read_text() == "x"
    os.utime(tmp_path / "several_plugin", (1, 1))
    assert not way.obstacle(transfer("toy://h/a", "/b"), plugin_surroundings)
    assert (tmp_path / "asked").read_text() == "xx"


@pytest.mark.parametrize(
    ("path", "kind", "words"),
    [
        ("404", FaultKind.MISSING, "several_plugin: HTTP 404 for toy://***@h/404"),
        ("short", FaultKind.MISMATCH, "tells of 11 bytes, but the file has 10"),
        ("garbage", FaultKind.MODULE, "result can't be read: it is not a ClassAd"),
        ("crash", FaultKind.MISSING, "toy://***@h/crash crashed: no such file"),
        ("mute", FaultKind.MODULE, "exited with code 0 and wrote no result"),
        ("exit", FaultKind.MODULE, "exited with code 3 and wrote no result"),
    ],
)
def test_failures(
    plugin_surroundings: Surroundings, tmp_path: Path, path: str, kind: FaultKind, words: str
) -> None:
    with pytest.raises(Fault) as caught:
        get(plugin_surroundings, f"toy://bob:hidden@h/{path}")
    assert words in caught.value.reason
    assert "hidden" not in caught.value.reason
    assert caught.value.kind is kind
    assert not [name for name in os.listdir(tmp_path) if name.startswith((".", "got"))]
