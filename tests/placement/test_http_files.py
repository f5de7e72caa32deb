"""Http servers that mean harm, and those that do what few do."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import itertools
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

import pytest

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.urls import parse_url
from condor_pydagman.placement import stream_copy
from condor_pydagman.placement.direct_way import DirectWay
from condor_pydagman.placement.endpoints import endpoint, http_files, libcurl, proxies
from condor_pydagman.placement.endpoints.endpoint import Entry, whole_number
from condor_pydagman.placement.endpoints.http_files import HttpFiles
from condor_pydagman.placement.endpoints.http_headers import (
    checksums_of,
    refuse_encoding,
)
from condor_pydagman.placement.endpoints.http_listing import entries_of, links_of
from condor_pydagman.placement.way import Surroundings
from tests.placement.helpers import Moves, progress, transfer
from tests.servers.faulty_http import FaultyServer, Wrong
from tests.servers.scripted import scripted
from tests.waiting import LIMIT_S

DATA = os.urandom(300_000)
LARGE = os.urandom(1_500_000)  # more than is sent from memory


def answer(*headers: str, status: str = "200 OK", body: bytes = b"") -> bytes:
    lines = [f"HTTP/1.1 {status}", *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/1.1\r\n\r\n",
        "HTTP/1.1 ²00 OK\r\n\r\n".encode("latin-1"),
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000,
        answer("Transfer-Encoding: chunked", body=b"-5\r\n"),
        answer("Transfer-Encoding: chunked", body=b"5\r\nabc"),
        answer("Transfer-Encoding: chunked", body=b"f" * 9000),
        answer("Transfer-Encoding: gzip, chunked", body=b"0\r\n\r\n"),
        answer("Transfer-Encoding: chunked", body=b"3\r\nabc\r\n0\r\n" + b"a: b\r\n" * 1000),
        answer(status="100 Continue") * 1000,
        answer(status="099 x") * 1000,
        answer("Content-Length: 10", body=b"123"),
        answer("Retry-After: ²", status="503 x"),
        answer("Retry-After: Mon, 01 Jan 9999 00:00:00 -2400", status="503 x"),
        answer("Location: http://[x", status="302 x"),
        answer(f"Location: http://{'a' * 70}.x/", status="302 x"),
        answer("Location: http://a..b/", status="302 x"),
        answer("Location: gopher://a/", status="302 x"),
        answer(status="302 x"),
    ],
)
def test_answers_that_make_no_sense(move: Moves, tmp_path: Path, said: bytes) -> None:
    with scripted(said) as server, pytest.raises(Fault):
        move(server.url("/a"), tmp_path / "b")
    assert not (tmp_path / "b").exists()


SHORT_ANSWERS = [
    answer("Content-Length: 3", 'ETag: "1"', body=b"abc"),
    answer("Transfer-Encoding: chunked", body=b"1\r\na\r\n2\r\nbc\r\n0\r\n\r\n"),
]


@pytest.mark.parametrize("whole", SHORT_ANSWERS)
@pytest.mark.parametrize("resets", [False, True])
def test_an_answer_that_ends_after_any_of_its_bytes(
    move: Moves, tmp_path: Path, whole: bytes, resets: bool
) -> None:
    for length in range(len(whole)):
        with scripted(whole[:length], resets=resets) as server, pytest.raises(Fault) as error:
            move(server.url("/a"), tmp_path / "b")
        assert error.value.kind is FaultKind.SERVER, length
        assert not (tmp_path / "b").exists()
    with scripted(whole) as server:
        move(server.url("/a"), tmp_path / "b")
    assert (tmp_path / "b").read_bytes() == b"abc"


WHOLE_ANSWER = answer("Content-Length: 300000", 'ETag: "1"', body=DATA)
BROKEN_OFF = WHOLE_ANSWER[:-100_000]


@pytest.mark.parametrize(
    ("headers", "begin", "end"),
    [
        (["Content-Range: bytes 250000-299999/300000"], 250_000, 300_000),
        (["Content-Range: bytes 200000-249999/300000"], 200_000, 250_000),
        (["Content-Range: bytes 200000-249999/*"], 200_000, 250_000),
        (["Content-Range: bytes 200000-249999/250000"], 200_000, 250_000),
        (["Content-Range: bytes 0-99999/300000"], 0, 100_000),
        (["Content-Range: bytes 200000-299999/300000", "Content-Length: 5"], 200_000, 300_000),
        (["Content-Range: bytes 200000-299999/" + "9" * 30], 200_000, 300_000),
        (["Content-Range: bytes ²-299999/300000"], 200_000, 300_000),
        (["Content-Range: lines 1-2/3"], 200_000, 300_000),
        (["Content-Range: bytes 200000-100/300000"], 200_000, 300_000),
        (["Content-Type: multipart/byteranges; boundary=x"], 200_000, 300_000),
        ([], 200_000, 300_000),
        ([], 0, 300_000),
    ],
)
def test_a_part_that_is_of_no_use_is_not_used(
    move: Moves, tmp_path: Path, headers: list[str], begin: int, end: int
) -> None:
    part = answer('ETag: "1"', *headers, status="206 Partial", body=DATA[begin:end])
    with scripted(BROKEN_OFF, WHOLE_ANSWER, part, WHOLE_ANSWER) as server:
        with pytest.raises(Fault):
            move(server.url("/a"), tmp_path / "b")
        assert move(server.url("/a"), tmp_path / "b").moved == len(DATA)
    assert b"bytes=200000-" in server.asked[2]
    assert b"Range" not in server.asked[3]
    assert (tmp_path / "b").read_bytes() == DATA


def test_a_part_without_a_version_is_not_used(move: Moves, tmp_path: Path) -> None:
    part = answer(
        "Content-Range: bytes 200000-299999/300000", status="206 Partial", body=DATA[200_000:]
    )
    with scripted(BROKEN_OFF, WHOLE_ANSWER, part, WHOLE_ANSWER) as server:
        with pytest.raises(Fault):
            move(server.url("/a"), tmp_path / "b")
        assert move(server.url("/a"), tmp_path / "b").moved == len(DATA)
    assert b"Range" not in server.asked[3]
    assert (tmp_path / "b").read_bytes() == DATA


def test_a_part_is_hashed_before_the_rest_is_asked_for(
    move: Moves, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = "Content-Range: bytes 200000-299999/300000"
    part = answer('ETag: "1"', told, status="206 Partial", body=DATA[200_000:])
    checksum = f"md5:{hashlib.md5(DATA).hexdigest()}"
    asked: list[int] = []
    with scripted(BROKEN_OFF, WHOLE_ANSWER, part) as server:

        def take_in(*words: Any) -> None:
            asked.append(len(server.asked))
            real(*words)

        real = stream_copy._take_in
        monkeypatch.setattr(stream_copy, "_take_in", take_in)
        with pytest.raises(Fault):
            move(server.url("/a"), tmp_path / "b", checksum=checksum)
        assert move(server.url("/a"), tmp_path / "b", checksum=checksum).moved == 100_000
    assert asked == [2]
    assert (tmp_path / "b").read_bytes() == DATA


@pytest.mark.parametrize("begin", [0, 1, 199_999])
def test_a_part_that_begins_earlier_is_cut(move: Moves, tmp_path: Path, begin: int) -> None:
    told = f"Content-Range: bytes {begin}-299999/300000"
    part = answer('ETag: "1"', told, status="206 Partial", body=DATA[begin:])
    with scripted(BROKEN_OFF, WHOLE_ANSWER, part) as server:
        with pytest.raises(Fault):
            move(server.url("/a"), tmp_path / "b")
        assert move(server.url("/a"), tmp_path / "b").moved == 100_000
        assert len(server.asked) == 3
    assert (tmp_path / "b").read_bytes() == DATA


def test_a_body_is_read_in_pieces_of_any_size(
    server: FaultyServer, surroundings: Surroundings
) -> None:
    server.files["/a"] = LARGE
    url = parse_url(server.url("/a"))
    with HttpFiles(url, surroundings) as files:
        for sizes in ([1, 7, 20_000, 3], [16_384], [70_000, 1], [len(LARGE)], [len(LARGE) + 1]):
            reader, found = files.read(url, 0), bytearray()
            for size in itertools.cycle(sizes):
                buffer = memoryview(bytearray(size))
                count = reader.readinto(buffer)
                found += buffer[:count]
                if not count:
                    break
            assert found == LARGE


def test_a_server_that_gives_parts_only(move: Moves, tmp_path: Path) -> None:
    part = answer("Content-Range: bytes 0-99/300", status="206 Partial", body=DATA[:100])
    with scripted(part) as server, pytest.raises(Fault, match="only a part") as error:
        move(server.url("/a"), tmp_path / "b")
    assert error.value.transient


@pytest.mark.parametrize("length", ["²", "-5", "9" * 5000, "1_0", ""])
def test_lengths_that_are_no_numbers(move: Moves, tmp_path: Path, length: str) -> None:
    wrong = pytest.raises(Fault, match=r"makes no sense|Content-Length")
    with scripted(answer(f"Content-Length: {length}", body=b"123")) as server, wrong:
        move(server.url("/a"), tmp_path / "b")


@pytest.mark.parametrize(
    ("text", "number"), [("0", 0), ("12", 12), ("", None), ("²", None), ("9" * 19, None)]
)
def test_whole_numbers(text: str, number: int | None) -> None:
    assert whole_number(text) == number


def test_checksums_that_are_announced() -> None:
    md5, sha = hashlib.md5(b"x", usedforsecurity=False), hashlib.sha256(b"x")
    encoded = base64.b64encode(md5.digest()).decode()
    said = {
        "digest": f"adler32=00790079,md5={encoded}, sha=xxx, sha-256=zzz",
        "repr-digest": f"sha-256=:{base64.b64encode(sha.digest()).decode()}:",
    }
    assert checksums_of(said) == {
        "adler32": "00790079",
        "md5": md5.hexdigest(),
        "sha256": sha.hexdigest(),
    }
    assert checksums_of({"digest": f"md5={md5.hexdigest()}"}) == {"md5": md5.hexdigest()}
    assert checksums_of({"digest": "md5=,adler32=xyz,=,"}) == {}


def test_an_announced_checksum_is_compared(
    move: Moves, server: FaultyServer, tmp_path: Path
) -> None:
    server.files["/a"] = DATA
    server.fail("/a", Wrong(headers=(("Digest", "adler32=12345678"),)))
    with pytest.raises(Fault) as error:
        move(server.url("/a"), tmp_path / "b")
    assert error.value.kind is FaultKind.MISMATCH
    assert list(tmp_path.iterdir()) == []


def test_a_compressed_file_is_not_taken_for_the_encoding_of_another() -> None:
    said = {"content-encoding": "x-gzip"}
    refuse_encoding(said, parse_url("http://a/b.tar.gz"))
    for path, coding in (("b.tar", "gzip"), ("b.gz", "br"), ("b.x", "unheard-of")):
        with pytest.raises(Fault):
            refuse_encoding({"content-encoding": coding}, parse_url(f"http://a/{path}"))


def test_pages_of_links() -> None:
    page = (
        "<a href='?C=M'>x</a><A class=y\nHREF = \"a%20b\">x</A><a href=plain>x</a><a href='s/'>"
        "<a href='/t/absolute'><a href='http://h/t/whole'><a href='../up'><a href='/'>"
        "<a href='http://[x'><a href='http://other/t/z'><a href='s/deeper'><a href='&lt;'>"
        "<a href='a%20b'><a name='x'><a href=''><a href='ü'>"
    ).encode()
    for size in (1, 7, 10_000):
        blocks = [page[at : at + size] for at in range(0, len(page), size)]
        found = [listed.path for listed in links_of(blocks, "http://h/t/", "/t/")]
        names = ["a b", "plain", "s/", "absolute", "whole", "<", "ü"]
        assert found == [f"/t/{name}" for name in names]


@pytest.mark.parametrize("text", ["<a ", "<a href='", "<a href", "<", "<a" + " " * 50, "href="])
def test_a_page_that_is_made_to_take_long(text: str) -> None:
    """With expressions of unbounded parts this takes hours."""
    block = (text * (65536 // len(text))).encode()
    assert len(list(links_of([block] * 16, "http://h/t/", "/t/"))) < 9


def test_lists_with_entities_are_refused() -> None:
    bomb = (
        '<?xml version="1.0" encoding="{}"?><!DOCTYPE x [<!ENTITY a "aaaa">'
        '<!ENTITY b "&a;&a;">]><x>&b;</x>'
    )
    for encoding in ("utf-8", "utf-16"):
        with pytest.raises(Fault) as error:
            entries_of([bomb.format(encoding).encode(encoding)], "server")
        assert error.value.kind is FaultKind.REFUSED


def test_lists_that_are_none() -> None:
    for text in (b"", b"<x>", b"no list", b"<x></y>", b"\0"):
        with pytest.raises(Fault) as error:
            entries_of([text], "server")
        assert error.value.transient
    with pytest.raises(Fault, match="too deeply"):
        entries_of([b"<x>" * 1000], "server")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b'<x a="' + b"a" * 2_000_000 + b'"/>', "a tag of more than 1048576 bytes"),
        (b"<!--" + b"a" * 2_000_000 + b"-->", "a tag of more than 1048576 bytes"),
        (b"".join(b"<a%d/>" % number for number in range(11_000)), "more than 10000 names"),
        (b"".join(b"<x a%d='1'/>" % number for number in range(11_000)), "more than 10000 names"),
        (b"<response><href>/a</href></response>" * 101, "more than 100 files"),
    ],
)
def test_a_list_that_is_made_to_take_much_memory(
    monkeypatch: pytest.MonkeyPatch, body: bytes, reason: str
) -> None:
    monkeypatch.setattr(endpoint, "MAX_ENTRIES", 100)
    text = b'<multistatus xmlns="DAV:">' + body + b"</multistatus>"
    blocks = (text[at : at + 16384] for at in range(0, len(text), 16384))
    with pytest.raises(Fault, match=reason) as error:
        entries_of(blocks, "server")
    assert error.value.kind is FaultKind.REFUSED


def test_a_page_of_too_many_links(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "MAX_ENTRIES", 100)
    links = [b"<a href=%d>x</a>" % number for number in range(101)]
    assert len(list(links_of(links[:100] * 2, "http://h/t/", "/t/"))) == 100
    with pytest.raises(Fault, match="h: a listing of more than 100 files and directories"):
        links_of(links, "http://h/t/", "/t/")


def test_a_list_of_a_server_with_other_habits() -> None:
    text = b"""<?xml version="1.0"?><multistatus xmlns="DAV:" xmlns:x="urn:x">
      <response><href>
          http://server/d/a%20b </href><propstat><prop><x:other>1</x:other>
        <getcontentlength>12</getcontentlength><getlastmodified>now</getlastmodified></prop>
        <status>HTTP/1.1 200 OK</status></propstat><propstat><prop><getetag/></prop>
        <status>HTTP/1.1 404 x</status></propstat></response>
      <response><href>/d/s</href><propstat><prop><resourcetype><collection/></resourcetype>
        <getcontentlength>\xc2\xb2</getcontentlength></prop></propstat></response>
      <response><href>http://[x</href></response></multistatus>"""
    for size in (1, 10_000):
        found = entries_of([text[at : at + size] for at in range(0, len(text), size)], "server")
        assert found == [Entry("/d/a b", 12, False, "now"), Entry("/d/s/", None, True)]


def test_a_listing_does_not_lead_outside(surroundings: Surroundings, server: FaultyServer) -> None:
    body = b"<a href='%2e%2e'>x</a>"
    length = f"Content-Length: {len(body)}"
    with scripted(answer(length, body=body)) as hostile, pytest.raises(Fault, match="outside"):
        list(DirectWay().expand(transfer(hostile.url("/d/"), "/tmp/x/"), surroundings))


@pytest.mark.parametrize(
    "said", ["Content-Encoding: gzip", "Content-Type: application/xml", "Content-Type: text/plain"]
)
def test_what_is_no_list_is_not_taken_for_an_empty_directory(
    surroundings: Surroundings, said: str
) -> None:
    body = answer(said, "Content-Length: 3", body=b"\x1f\x8bx")
    with scripted(body) as server, pytest.raises(Fault) as error:
        list(DirectWay().expand(transfer(server.url("/d/"), "/tmp/x/"), surroundings))
    assert error.value.kind is FaultKind.REFUSED


def test_a_listed_directory_that_is_not_there_is_told(
    surroundings: Surroundings, server: FaultyServer
) -> None:
    server.files["/d/a"] = server.files["/d/e/b"] = b"x"
    server.fail("/d/e/", Wrong(status=404))
    with pytest.raises(Fault, match="/d/e/ is not there") as error:
        list(DirectWay().expand(transfer(server.url("/d/", "dav"), "/tmp/x/"), surroundings))
    assert error.value.kind is FaultKind.MISSING


def test_small_uploads_follow_redirections(
    move: Moves, server: FaultyServer, tmp_path: Path
) -> None:
    (tmp_path / "a").write_bytes(b"small")
    server.is_dav = False
    server.fail("/b", Wrong(times=2, status=307, headers=(("Location", "/elsewhere"),)))
    move(tmp_path / "a", server.url("/b"))
    assert server.files["/elsewhere"] == b"small"


def test_large_uploads_follow_redirections(
    move: Moves, server: FaultyServer, tmp_path: Path
) -> None:
    """Before the body is sent; some servers refuse to say before where it should go."""
    (tmp_path / "a").write_bytes(LARGE)
    server.is_dav = False
    server.expectation = 307, "/elsewhere"
    server.fail("/b", Wrong(status=307, headers=(("Location", "/elsewhere"),)))  # the look after it
    move(tmp_path / "a", server.url("/b"))
    assert server.files == {"/elsewhere": LARGE}
    server.expectation = 417, ""
    move(tmp_path / "a", server.url("/c"))
    assert server.files["/c"] == LARGE


@pytest.mark.parametrize("reads", [True, False], ids=["body is read", "body is not read"])
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_large_uploads_follow_redirections_that_come_late(
    move: Moves, server: FaultyServer, tmp_path: Path, status: int, *, reads: bool
) -> None:
    (tmp_path / "a").write_bytes(LARGE)
    server.is_dav = False
    leads = Wrong(status=status, reads=reads, headers=(("Location", "/elsewhere"),))
    server.fail("/b", leads, leads)  # the second one is for the look after it
    assert move(tmp_path / "a", server.url("/b")).moved == len(LARGE)
    assert server.files == {"/elsewhere": LARGE}
    assert [method for method, _, _ in server.requests].count("PUT") == 2


def test_an_upload_is_not_led_in_circles(move: Moves, server: FaultyServer, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(LARGE)
    server.is_dav = False
    server.fail("/b", Wrong(times=99, status=307, reads=True, headers=(("Location", "/b"),)))
    with pytest.raises(Fault, match="too often"):
        move(tmp_path / "a", server.url("/b"))
    assert [method for method, _, _ in server.requests].count("PUT") == http_files.MAX_REDIRECTS + 1


@pytest.mark.parametrize("data", [b"small", LARGE], ids=["small", "large"])
@pytest.mark.parametrize("status", [404, 409, 410])
def test_a_place_that_is_missing_is_not_a_source_that_is_missing(
    move: Moves, server: FaultyServer, tmp_path: Path, data: bytes, status: int
) -> None:
    (tmp_path / "a").write_bytes(data)
    server.is_dav = False
    server.fail("/d/b", Wrong(status=status))
    with pytest.raises(Fault, match="no such directory") as error:
        move(tmp_path / "a", server.url("/d/b"))
    assert (error.value.kind, error.value.transient) == (FaultKind.DESTINATION, False)


def test_a_directory_that_can_not_be_made(
    move: Moves, server: FaultyServer, tmp_path: Path
) -> None:
    (tmp_path / "a").write_bytes(DATA)
    server.fail("/d/", Wrong(), Wrong(status=409))
    with pytest.raises(Fault, match="MKCOL") as error:
        move(tmp_path / "a", server.url("/d/b", "dav"))
    assert error.value.kind is FaultKind.DESTINATION


def test_both_ends_may_be_one_server(move: Moves, server: FaultyServer) -> None:
    """Also if the data must pass through here, for its checksum or as the server can't copy."""
    server.files["/a"] = DATA
    md5 = f"md5:{hashlib.md5(DATA, usedforsecurity=False).hexdigest()}"
    move(server.url("/a", "dav"), server.url("/b", "dav"), checksum=md5)
    server.is_dav = False
    move(server.url("/a"), server.url("/c"))
    assert server.files == dict.fromkeys(("/a", "/b", "/c"), DATA)


def test_a_source_is_not_written_to_by_another_name(move: Moves, server: FaultyServer) -> None:
    server.files["/a"] = DATA
    with pytest.raises(Fault, match="is the source"):
        move(server.url("/a", "dav"), server.url("/a"))


def test_who_may_only_write_is_not_asked_to_look(
    move: Moves, server: FaultyServer, tmp_path: Path
) -> None:
    (tmp_path / "a").write_bytes(DATA)
    server.is_dav = False
    server.fail("/b", Wrong(), Wrong(status=403))
    assert move(tmp_path / "a", server.url("/b")).size == len(DATA)


def test_who_may_not_look_at_a_directory_may_write_to_it(
    move: Moves, server: FaultyServer, tmp_path: Path
) -> None:
    (tmp_path / "a").write_bytes(DATA)
    server.fail("/d/", Wrong(status=403))
    move(tmp_path / "a", server.url("/d/b", "dav"))
    assert server.files == {"/d/b": DATA}


@pytest.mark.parametrize("reads", [True, False])
@pytest.mark.parametrize("headers", [[], ["Connection: close"]], ids=["keeps", "closes"])
def test_a_server_that_has_a_file_before_all_was_sent(
    surroundings: Surroundings, headers: list[str], reads: bool
) -> None:
    """And may neither close the connection, nor read on."""
    with early(answer("Content-Length: 0", *headers, status="201 Created"), reads) as server:
        url = parse_url(server)
        with contextlib.closing(HttpFiles(url, surroundings)) as files:
            writer = files.write(url, 0, 100 * len(LARGE))
            with pytest.raises(Fault, match="answers 201 before it has all of") as error:
                for _ in range(100):
                    writer.write(memoryview(LARGE))
                writer.commit()
    assert error.value.kind is FaultKind.SERVER
    assert not error.value.host


@contextlib.contextmanager
def early(said: bytes, reads: bool) -> Iterator[str]:
    """The URL of a file of a server that answers to its first bytes."""
    over = threading.Event()

    def run() -> None:
        with contextlib.suppress(OSError), listener.accept()[0] as made:
            made.recv(65536)
            made.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            made.recv(65536)
            made.sendall(said)
            while reads and made.recv(1 << 20):
                pass
            over.wait(LIMIT_S)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/a"
        finally:
            over.set()
            thread.join()


@pytest.mark.usefixtures("impatient")
def test_servers_are_asked_for_checksums(move: Moves, server: FaultyServer, tmp_path: Path) -> None:
    """After an upload, and before one is skipped."""
    (tmp_path / "a").write_bytes(DATA)
    server.is_dav = False
    md5 = hashlib.md5(DATA, usedforsecurity=False)
    wrong = Wrong(headers=(("Digest", f"md5={base64.b64encode(b'x' * 16).decode()}"),))
    right = Wrong(headers=(("Digest", f"md5={base64.b64encode(md5.digest()).decode()}"),))
    wish = {"checksum": f"md5:{md5.hexdigest()}", "if_exists": "skip"}
    server.fail("/b", Wrong(), Wrong(), Wrong(), wrong)
    with pytest.raises(Fault, match="was written"):
        move(tmp_path / "a", server.url("/b"), **wish)
    assert server.files == {}
    server.files["/b"] = DATA
    server.fail("/b", Wrong(), right)
    server.requests.clear()
    assert move(tmp_path / "a", server.url("/b"), **wish).skipped
    assert [(method, more.get("Want-Digest")) for method, _, more in server.requests] == [
        ("HEAD", None), ("HEAD", "md5")
    ]  # fmt: skip


def test_the_page_of_a_directory_is_no_file(move: Moves, tmp_path: Path) -> None:
    page = answer("Content-Type: text/html", "Content-Length: 3", body=b"<a>")
    to = answer("Location: /d/", "Content-Length: 0", status="301 x")
    with scripted(to, page) as server, pytest.raises(Fault, match="end it in /"):
        move(server.url("/d"), tmp_path / "b")


def test_odd_characters_of_a_query_are_encoded(move: Moves, tmp_path: Path) -> None:
    with scripted(answer("Content-Length: 1", body=b"x")) as server:
        move(server.url("/a?b=c d&e=%20ü"), tmp_path / "b")
    assert server.asked[0].startswith(b"GET /a?b=c%20d&e=%20%C3%BC HTTP/1.1\r\n")


def test_credentials_are_for_one_server(move: Moves, server: FaultyServer, tmp_path: Path) -> None:
    secret = base64.b64encode(b"me:geheim")
    with scripted(answer("Content-Length: 1", body=b"x")) as other:
        server.fail("/a", Wrong(status=302, headers=(("Location", other.url("/b")),)))
        move(server.url("/a").replace("//", "//me:geheim@"), tmp_path / "b")
    assert secret not in other.asked[0]
    assert server.requests[0][2]["Authorization"] == f"Basic {secret.decode()}"


@pytest.mark.parametrize("scheme", ["http", "dav"])
def test_credentials_are_for_all_redirections_of_their_server(
    move: Moves, server: FaultyServer, tmp_path: Path, scheme: str
) -> None:
    server.files["/b"] = b"x"
    server.is_dav = scheme == "dav"
    server.fail("/a", Wrong(times=9, status=302, headers=(("Location", server.url("/b")),)))
    move(server.url("/a", scheme).replace("//", "//me:geheim@"), tmp_path / "b")
    sent = {request[2].get("Authorization") for request in server.requests}
    assert sent == {"Basic " + base64.b64encode(b"me:geheim").decode()}


def test_a_token_does_not_stand_for_a_password(surroundings: Surroundings) -> None:
    around = surroundings._replace(environment={"BEARER_TOKEN": "geheim"})
    with contextlib.closing(HttpFiles(parse_url("https://me:pw@h/"), around)) as files:
        basic = "Basic " + base64.b64encode(b"me:pw").decode()
        assert files._authorization(parse_url("https://h:443/x")) == basic
        assert files._authorization(parse_url("http://h:443/x")) == ""
        assert files._authorization(parse_url("https://h:444/x")) == ""


def test_a_token_is_not_sent_unencrypted(move: Moves, server: FaultyServer, tmp_path: Path) -> None:
    """Nor to a port of this machine: another user may have it."""
    server.files["/a"] = b"x"
    move.with_environment(BEARER_TOKEN="geheim")
    move(server.url("/a"), tmp_path / "b")
    assert "Authorization" not in server.requests[0][2]


@pytest.mark.parametrize("data", [b"small", LARGE], ids=["small", "large"])
def test_uploads_are_redirected_to_the_same_host_only(
    server: FaultyServer, surroundings: Surroundings, tmp_path: Path, data: bytes
) -> None:
    """Unless the request allows the other: a server could have files written anywhere."""
    (tmp_path / "a").write_bytes(data)
    server.is_dav = False
    elsewhere = server.url("/private").replace("127.0.0.1", "localhost")
    wanted = transfer(str(tmp_path / "a"), server.url("/b"), if_exists="overwrite")
    way = DirectWay()

    def lead_elsewhere() -> None:
        times = 2
        if data is LARGE:  # before the body is sent, and the look after it
            server.expectation, times = (307, elsewhere), 1
        server._wrong.clear()
        server.fail("/b", Wrong(times=times, status=307, headers=(("Location", elsewhere),)))

    with contextlib.closing(SimpleNamespace(close=way.thread_ends)):
        lead_elsewhere()
        with pytest.raises(Fault, match='redirect_hosts = "localhost"') as error:
            way.perform(wanted, surroundings, progress())
        assert (error.value.kind, server.files) == (FaultKind.REFUSED, {})
        allowed = wanted._replace(redirect_hosts=("x.example", "local*"))
        lead_elsewhere()
        way.perform(allowed, surroundings, progress())
    assert server.files == {"/private": data}


def test_uploads_are_not_redirected_to_other_ports_of_this_machine(
    move: Moves, server: FaultyServer, tmp_path: Path
) -> None:
    """Another user may have them."""
    (tmp_path / "a").write_bytes(b"private")
    server.is_dav = False
    with scripted(answer("Content-Length: 0")) as other:
        server.fail("/b", Wrong(times=9, status=307, headers=(("Location", other.url("/x")),)))
        with pytest.raises(Fault, match="which the request does not allow"):
            move(tmp_path / "a", server.url("/b"), if_exists="overwrite")
        assert not any(head.startswith(b"PUT") for head in other.asked)


@pytest.mark.parametrize("data", [b"small", LARGE], ids=["small", "large"])
def test_an_upload_that_is_to_see_another_file_has_failed(
    move: Moves, server: FaultyServer, tmp_path: Path, data: bytes
) -> None:
    (tmp_path / "a").write_bytes(data)
    server.is_dav = False
    see_other = Wrong(times=9, status=303, headers=(("Location", "/c"),))
    server.fail("/b", see_other)
    if data is LARGE:  # which is asked for
        server.expectation = 303, "/c"
    with pytest.raises(Fault, match="answers 303"):
        move(tmp_path / "a", server.url("/b"))
    assert server.files == {}


def test_a_redirection_to_nowhere_is_asked_once(move: Moves, tmp_path: Path) -> None:
    with scripted(answer("Content-Length: 0", status="302 x")) as server:
        with pytest.raises(Fault, match="does not say where to"):
            move(server.url("/a"), tmp_path / "b")
        assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        (("Content-Length: -5",), b"123"),
        (("Content-Length: 10",), b""),
        (("Transfer-Encoding: chunked",), b"0x3\r\nabc\r\n0\r\n\r\n"),
        (("Transfer-Encoding: chunked",), b"+3\r\nabc\r\n0\r\n\r\n"),
        (("Transfer-Encoding: chunked",), b"3\r\nabcd\r\n0\r\n\r\n"),
    ],
)
def test_a_body_that_is_wrong_is_not_the_fault_of_its_host(
    move: Moves, tmp_path: Path, headers: tuple[str, ...], body: bytes
) -> None:
    with scripted(answer(*headers, body=body)) as server, pytest.raises(Fault) as error:
        move(server.url("/a"), tmp_path / "b")
    assert (error.value.kind, error.value.host) == (FaultKind.SERVER, "")


def test_nobody_waits_for_a_body_that_is_not_wanted(
    surroundings: Surroundings, server: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(libcurl, "MAX_UNWANTED_S", 0)
    server.files["/a"] = DATA
    server.fail("/a", Wrong(status=0, stalls=True, after=10))
    patient = surroundings.settings._replace(stall_timeout_s=LIMIT_S * 10)
    around = surroundings._replace(settings=patient)
    url = parse_url(server.url("/a"))
    with contextlib.closing(HttpFiles(url, around)) as files:
        assert files._ask_all("GET", url).status == 200
        files.put(parse_url(server.url("/b")), LARGE)
        assert server.files["/b"] == LARGE


def test_a_server_that_does_not_answer_is_at_fault(move: Moves, tmp_path: Path) -> None:
    with scripted(b"") as server, pytest.raises(Fault) as error:
        move(server.url("/a"), tmp_path / "b")
    assert error.value.host == f"127.0.0.1:{server.port}"


@pytest.mark.parametrize("name", ["http_proxy", "all_proxy", "ALL_PROXY"])
@pytest.mark.parametrize("scheme", ["ftp", "sock5"])
def test_a_proxy_of_an_unknown_kind_is_refused(
    move: Moves, tmp_path: Path, name: str, scheme: str
) -> None:
    move.with_environment(**{name: f"{scheme}://127.0.0.1:1"})
    with pytest.raises(Fault, match=f"{name} names a proxy of the kind {scheme}"):
        move("http://data.example/a", tmp_path / "b")


ADDRESS, NAME = ("192.0.2.7", 8080), ("data.example.org", 443)


@pytest.mark.parametrize(
    ("server", "word", "is_meant"),
    [
        (ADDRESS, "*", True),
        (ADDRESS, "192.0.2.0/24", True),
        (ADDRESS, "192.0.3.0/24", False),
        (ADDRESS, "192.0.2.7", True),
        (ADDRESS, "192.0.2.7:8080", True),
        (ADDRESS, "192.0.2.7:81", False),
        (ADDRESS, "x.example, 192.0.2.7", True),
        (ADDRESS, "x.example 192.0.2.7", True),
        (ADDRESS, "x.example,*", False),
        (ADDRESS, " * ", True),
        (ADDRESS, "2.7", False),
        (ADDRESS, "", False),
        (NAME, "example.org", True),
        (NAME, ".Example.org", True),
        (NAME, "data.example.org:443", True),
        (NAME, "example.org:80", False),
        (NAME, "ample.org", False),
        (NAME, "192.0.2.0/24", False),
    ],
)
def test_servers_without_a_proxy(server: tuple[str, int], word: str, is_meant: bool) -> None:
    assert proxies.is_bypassed(*server, word) is is_meant


@pytest.mark.parametrize("host", ["data.bücher.example", "data.xn--bcher-kva.example"])
@pytest.mark.parametrize(
    "word", ["bücher.example", ".BÜCHER.example", "xn--bcher-kva.example:443", "x,bücher.example"]
)
def test_names_that_are_not_ascii_without_a_proxy(host: str, word: str) -> None:
    assert proxies.is_bypassed(host, 443, word)
    assert not proxies.is_bypassed("bucher.example", 443, word)


def test_proxies(move: Moves, tmp_path: Path) -> None:
    with scripted(answer("Content-Length: 1", body=b"x")) as proxy:
        place = f"127.0.0.1:{proxy.port}"
        move.with_environment(http_proxy=f"http://me:geheim@{place}", no_proxy="x.example,.y")
        move("http://data.example/a", tmp_path / "b")
        word = base64.b64encode(b"me:geheim")
        assert proxy.asked[0].startswith(b"GET http://data.example/a HTTP/1.1\r\n")
        assert b"Proxy-Authorization: Basic " + word in proxy.asked[0]
    with scripted(answer(status="407 x")) as proxy:
        move.with_environment(https_proxy=f"127.0.0.1:{proxy.port}")
        with pytest.raises(Fault, match="407: the proxy wants credentials"):
            move("https://data.example/a", tmp_path / "c")
        assert proxy.asked[0].startswith(b"CONNECT data.example:443 HTTP/1.1\r\n")


@pytest.mark.parametrize("user", ["me:geheim", "me:ge%68eim", "me:ge@h#ei?m"])
@pytest.mark.parametrize("scheme", ["", "http://"])
def test_a_proxy_gets_its_password(move: Moves, tmp_path: Path, user: str, scheme: str) -> None:
    with scripted(answer("Content-Length: 1", body=b"x")) as proxy:
        move.with_environment(all_proxy=f" {scheme}{user}@127.0.0.1:{proxy.port} ")
        move("http://data.example/a", tmp_path / "b")
    word = base64.b64encode(unquote(user).encode())
    assert b"Proxy-Authorization: Basic " + word in proxy.asked[0]


@pytest.mark.parametrize("scheme", ["", "http://", "socks5h://"])
@pytest.mark.parametrize(
    "text",
    [
        "me:geh eim@127.0.0.1:1",
        "me:geh\x01eim@127.0.0.1:1",
        "me:geheim@127.0.0.1:8o",
        "me:geheim@h;x:1",
        "me:geheim@1.2.3.4.5:99999",
        "me:geh/eim@127.0.0.1:1",
        "me:geheim@[1:2:3]:1",
        "me:geheim@127.0.0.1:1",
        "me:geh@x#eim@127.0.0.1:1",
    ],
)
def test_a_password_of_a_proxy_is_in_no_message(
    move: Moves, tmp_path: Path, scheme: str, text: str
) -> None:
    move.with_environment(all_proxy=scheme + text)
    with pytest.raises(Fault) as error:
        move("http://data.example/a", tmp_path / "b")
    assert "geh" not in str(error.value)
    assert "eim" not in str(error.value)


def test_a_header_of_a_web_client_is_no_proxy(
    move: Moves, server: FaultyServer, tmp_path: Path
) -> None:
    """Web servers tell their programs such a header as HTTP_PROXY; curl does not read it either."""
    server.files["/a"] = b"x"
    move.with_environment(HTTP_PROXY="http://127.0.0.1:1")
    move(server.url("/a"), tmp_path / "b")


def test_a_host_that_can_not_be(surroundings: Surroundings) -> None:
    with pytest.raises(Fault, match="no host of that name") as error:
        HttpFiles(parse_url("http://a..b/"), surroundings).look(parse_url("http://a..b/"))
    assert error.value.kind is FaultKind.REQUEST


@pytest.mark.parametrize("host", ["169.254.169.254／x", "h＃.example.org", "h％20", "h＠x"])  # noqa: RUF001
def test_a_host_that_becomes_another_in_ascii(host: str, surroundings: Surroundings) -> None:
    with pytest.raises(Fault, match="no host of that name"):
        HttpFiles(parse_url(f"http://{host}/"), surroundings)


@pytest.mark.parametrize("host", ["¹69.254.¹69.254", "lºcalhost", "metadata.gººgle.internal"])
def test_a_proxy_is_not_led_to_this_machine_by_odd_letters(
    move: Moves, tmp_path: Path, host: str
) -> None:
    with scripted(
        answer(f"Location: http://{host}/x", "Content-Length: 0", status="302 x")
    ) as proxy:
        move.with_environment(http_proxy=f"127.0.0.1:{proxy.port}")
        with pytest.raises(Fault, match="which is a"):
            move("http://data.example/a", tmp_path / "b")
    assert len(proxy.asked) == 1


def test_hosts_that_uploads_may_be_redirected_to_are_compared_in_ascii(
    surroundings: Surroundings,
) -> None:
    settings = surroundings.settings._replace(redirect_hosts=("*.bücher.example", "a.example"))
    files = HttpFiles(parse_url("http://h/"), surroundings._replace(settings=settings))
    for host, is_meant in (("x.BÜCHER.example", True), ("ａ.example", True), ("b.example", False)):  # noqa: RUF001
        assert files._may_change(parse_url(f"http://{host}/")) is is_meant


def test_a_directory_is_not_copied_into_itself(tmp_path: Path, surroundings: Surroundings) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d/a").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "d")
    for destination in ("d/s/", "d/", "link/s/"):
        with pytest.raises(Fault, match="is in the source"):
            wish = transfer(f"{tmp_path}/d/", f"{tmp_path}/{destination}")
            list(DirectWay().expand(wish, surroundings))


def test_a_device_is_not_replaced(move: Moves, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(Fault, match="not a regular file"):
        move(tmp_path / "a", tmp_path / "fifo")


def test_a_request_may_be_more_patient(move: Moves, server: FaultyServer, tmp_path: Path) -> None:
    server.files["/a"] = DATA
    server.fail("/a", Wrong(after=100, stalls=True))
    with pytest.raises(Fault, match="hardly any data for"):
        move(server.url("/a"), tmp_path / "b", stall_timeout_s=1)
