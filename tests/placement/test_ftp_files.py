"""Ftp servers that say what makes no sense, or never end."""

from __future__ import annotations

import contextlib
import socket
import threading
import tracemalloc
from collections.abc import Iterator, Mapping

import pycurl
import pytest

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.urls import parse_url
from condor_pydagman.placement.endpoints import endpoint, libcurl
from condor_pydagman.placement.endpoints.ftp_files import FtpFiles
from condor_pydagman.placement.way import Surroundings
from tests.waiting import LIMIT_S

ANSWERS = {
    "hello": b"220 hello\r\n",
    "USER": b"230 welcome\r\n",
    "TYPE": b"200 done\r\n",
    "SIZE": b"213 5\r\n",
    "MDTM": b"213 20200101\r\n",
}


class Client:
    """Files of a server with these answers, which are told by the first word of a command."""

    def __init__(self, answers: Mapping[str, bytes], listing: bytes, around: Surroundings) -> None:
        self.answers = {**ANSWERS, **answers}
        self.listing = listing
        self.data_address = b"127,0,0,1"
        self.asked: list[bytes] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.data = socket.socket()  # where it waits for a client to fetch or bring a file
        self.url = parse_url(f"ftp://127.0.0.1:{self.listener.getsockname()[1]}/")
        self.files = FtpFiles(self.url, around)
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        with contextlib.suppress(OSError), self.listener.accept()[0] as made:
            made.sendall(self.answers["hello"])
            for line in made.makefile("rb"):
                self.asked.append(line.strip())
                word = line.split()[0].decode()
                if word == "PASV":
                    self.data.close()
                    self.data = socket.create_server(("127.0.0.1", 0))
                    port = divmod(self.data.getsockname()[1], 256)
                    made.sendall(b"227 here (%b,%d,%d)\r\n" % (self.data_address, *port))
                elif word in ("MLSD", "LIST") and word not in self.answers:
                    self._list(made)
                else:
                    made.sendall(self.answers.get(word, b"500 what?\r\n"))

    def _list(self, control: socket.socket) -> None:
        with self.data:
            data = self.data.accept()[0]
            control.sendall(b"150 it comes\r\n")
            with data, contextlib.suppress(OSError):
                data.sendall(self.listing)
            control.sendall(b"226 done\r\n")


@contextlib.contextmanager
def client(
    around: Surroundings, answers: Mapping[str, bytes] = {}, listing: bytes = b""
) -> Iterator[Client]:
    made = Client(answers, listing, around._replace(settings=around.settings._replace(
        stall_timeout_s=LIMIT_S, connect_timeout_s=LIMIT_S)))  # fmt: skip
    try:
        yield made
    finally:
        made.files.close()
        with contextlib.suppress(OSError):
            made.listener.shutdown(socket.SHUT_RDWR)  # it may wait for a client
        made.thread.join()
        made.listener.close()
        made.data.close()


@pytest.mark.parametrize("name", ["a;type=a", "a;type=d", "a;TYPE=i", "b;c"])
def test_a_name_that_ends_like_a_type(surroundings: Surroundings, name: str) -> None:
    with client(surroundings) as ftp:
        ftp.files.look(ftp.url.child(name))
    assert f"SIZE /{name}".encode() in ftp.asked
    assert b"TYPE A" not in ftp.asked


@pytest.mark.parametrize(
    ("word", "said", "reason"),
    [
        ("hello", b"220-x\r\n" * 100_000, "without end"),
        ("hello", b"421 gr\xfc\xdfe\r\n", "421 gr"),
    ],
)
def test_an_answer_that_makes_no_sense_is_a_fault_of_the_server(
    surroundings: Surroundings, word: str, said: bytes, reason: str
) -> None:
    with client(surroundings, {word: said}) as ftp, pytest.raises(Fault, match=reason) as fault:
        ftp.files.look(ftp.url.child("a"))
    assert fault.value.kind is FaultKind.SERVER
    assert fault.value.host == ftp.url.server


def test_messages_of_any_encoding_and_names_of_any_bytes(surroundings: Surroundings) -> None:
    listing = b"type=file;size=1; \xfc\r\ntype=file;size=1; \xc3\xbc\r\n"
    with client(surroundings, {"hello": b"220 Gr\xfc\xdf Gott\r\n"}, listing) as ftp:
        entry = ftp.files.look(parse_url(f"{ftp.url}%FF%C3%BC"))
        assert entry is not None
        assert entry.size == 5
        found = [one.path for one in ftp.files.files_below(ftp.url)]
    assert b"SIZE /\xff\xc3\xbc" in ftp.asked
    assert found == ["\udcfc", "ü"]


def test_a_name_that_is_no_text_is_the_request_s_fault(surroundings: Surroundings) -> None:
    with client(surroundings) as ftp, pytest.raises(Fault) as fault:
        ftp.files.look(ftp.url.child("\ud800"))
    assert fault.value.kind is FaultKind.REQUEST


def test_a_list_without_end(surroundings: Surroundings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libcurl, "MAX_BODY_BYTES", 1000)
    listing = b"type=file; a\r\n" * 1000
    with client(surroundings, {}, listing) as ftp, pytest.raises(Fault, match="a listing of more"):
        list(ftp.files.files_below(ftp.url))


@pytest.mark.parametrize("line", [b"\n", b"type=file;size=1; ab\r\n"])
def test_a_list_takes_no_more_memory_than_its_text(surroundings: Surroundings, line: bytes) -> None:
    listing = line * (1_000_000 // len(line))
    with client(surroundings, {}, listing) as ftp:
        tracemalloc.start()
        try:
            found = sum(1 for _ in ftp.files.files_below(ftp.url))
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert found == listing.count(b"size=1")
    assert peak < 3 * len(listing)


def test_a_line_without_end(surroundings: Surroundings) -> None:
    listing = b"type=file; a\r\n" + b"a" * 200_000
    broken = pytest.raises(Fault, match="a line of a listing")
    with client(surroundings, {}, listing) as ftp, broken:
        list(ftp.files.files_below(ftp.url))


def test_too_many_directories(surroundings: Surroundings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "MAX_ENTRIES", 10)
    listing = b"".join(b"type=dir; %d\r\n" % number for number in range(11))
    with client(surroundings, {}, listing) as ftp, pytest.raises(Fault, match="more than 10 files"):
        list(ftp.files.files_below(ftp.url))


def test_data_come_from_the_server_itself(surroundings: Surroundings) -> None:
    """A server could have any other be asked."""
    with client(surroundings, {}, b"type=file;size=1; a\r\n") as ftp:
        ftp.data_address = b"192,0,2,1"
        assert [one.path for one in ftp.files.files_below(ftp.url)] == ["a"]
        assert ftp.files._options[pycurl.FTP_SKIP_PASV_IP] == 1


def test_links_to_files_are_files(surroundings: Surroundings) -> None:
    lines = (b"cdir; .", b"File;size=1; a", b"OS.unix=slink:/a; b", b"OS.unix=fifo; c")
    listing = b"".join(b"Type=%b\r\n" % line for line in lines)
    left_out: list[tuple[str, str]] = []
    with client(surroundings, {}, listing) as ftp:
        ftp.files.leaves_out = lambda path, why: left_out.append((path, why))
        assert [one[:2] for one in ftp.files.files_below(ftp.url)] == [("a", 1), ("b", 5)]
    assert left_out == [("c", endpoint.NO_FILE)]


@pytest.mark.parametrize("code", ["500", "502"])
def test_a_server_without_mlsd_is_asked_for_a_list(surroundings: Surroundings, code: str) -> None:
    listing = b"-rw-r--r-- 1 me us 7 Jan  1 00:00 a b\r\ndrwxr-xr-x 1 me us 7 Jan  1 00:00 d\r\n"
    answers = {"MLSD": f"{code} what?\r\n".encode()}
    with client(surroundings, answers, listing) as ftp:
        for _ in range(2):
            found = [one[:2] for one in ftp.files.files_below(ftp.url.child("s p"), deep=False)]
            assert found == [("a b", 7)]
    assert [line for line in ftp.asked if line[4:5] == b" " and line[:4] in (b"MLSD", b"LIST")] == [
        b"MLSD /s p", b"LIST /s p", b"LIST /s p"
    ]  # fmt: skip


def test_directories_without_end(
    surroundings: Surroundings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "MAX_DEPTH", 5)
    listing = b"type=dir; a\r\n"
    with client(surroundings, {}, listing) as ftp, pytest.raises(Fault, match="nested") as fault:
        list(ftp.files.files_below(ftp.url))
    assert fault.value.kind is FaultKind.REFUSED
    assert ftp.asked.count(b"PASV") == 6


@pytest.mark.parametrize(("code", "is_hosts"), [("421", True), ("450", False), ("451", False)])
def test_a_file_that_can_not_be_had_now_is_not_the_fault_of_its_host(
    surroundings: Surroundings, code: str, is_hosts: bool
) -> None:
    answers = {"SIZE": f"{code} later\r\n".encode()}
    with client(surroundings, answers) as ftp, pytest.raises(Fault) as fault:
        ftp.files.look(ftp.url.child("a"))
    assert (fault.value.kind, bool(fault.value.host)) == (FaultKind.SERVER, is_hosts)


NO_PATH = b"501 No such directory.\r\n"


def test_a_path_that_is_no_good_parameter_is_not_there(surroundings: Surroundings) -> None:
    answers = dict.fromkeys(("SIZE", "CWD", "RETR", "MLSD"), NO_PATH)
    with client(surroundings, answers) as ftp:
        url = ftp.url.child("d/a")
        assert ftp.files.look(url) is None
        for ask in (lambda: ftp.files.read(url, 0), lambda: list(ftp.files.files_below(url))):
            with pytest.raises(Fault, match="501 No such") as fault:
                ask()
            assert (fault.value.kind, fault.value.transient) == (FaultKind.MISSING, False)


@pytest.mark.parametrize("answers", [{"CWD": NO_PATH, "MKD": NO_PATH}, {"STOR": NO_PATH}])
def test_a_place_that_is_no_good_parameter_is_not_there(
    surroundings: Surroundings, answers: dict[str, bytes]
) -> None:
    answers = {"CWD": b"250 done\r\n", **answers}
    with client(surroundings, answers) as ftp, pytest.raises(Fault, match="501 No such") as fault:
        ftp.files.write(ftp.url.child("d/a"), 0, 5)
    assert (fault.value.kind, fault.value.transient) == (FaultKind.DESTINATION, False)


def test_a_directory_whose_size_nobody_knows(surroundings: Surroundings) -> None:
    with client(surroundings, {"SIZE": NO_PATH, "CWD": b"250 done\r\n"}) as ftp:
        found = ftp.files.look(ftp.url.child("d"))
    assert found is not None
    assert found.is_directory


@pytest.mark.parametrize("word", ["REST", "DELE"])
def test_another_parameter_that_is_no_good_is_refused(
    surroundings: Surroundings, word: str
) -> None:
    with client(surroundings, {word: b"501 No.\r\n"}) as ftp:
        url = ftp.url.child("a")
        with pytest.raises(Fault, match="501 No") as fault:
            ftp.files.remove(url) if word == "DELE" else ftp.files.read(url, 3)
    assert fault.value.kind is FaultKind.REFUSED


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (b"550 No such directory.\r\n", FaultKind.DESTINATION),
        (b"550 Permission denied.\r\n", FaultKind.DENIED),
        (b"552 Quota.\r\n", FaultKind.NO_SPACE),
        (b"553 Not that name.\r\n", FaultKind.DESTINATION),
    ],
)
def test_what_can_not_be_written_is_not_a_source_that_is_missing(
    surroundings: Surroundings, said: bytes, kind: FaultKind
) -> None:
    answers = {"CWD": b"250 done\r\n", "STOR": said}
    with client(surroundings, answers) as ftp, pytest.raises(Fault) as fault:
        ftp.files.write(ftp.url.child("a"), 0, 5)
    assert (fault.value.kind, fault.value.transient) == (kind, False)
