"""Request files: what is read, and what is said of what is wrong."""

from __future__ import annotations

import pytest

from condor_pydagman.data_requests.request_macros import Macros
from condor_pydagman.data_requests.request_text import read_requests
from condor_pydagman.data_requests.requests import Allocate, Release, Transfer
from condor_pydagman.data_requests.urls import parse_url
from condor_pydagman.errors import DagFileError

BRACKETED = """
// as Stork's manual has it
[
  dap_type = "transfer";
  src_url = "http://server/a b";  /* with a blank */
  dest_url = "file:/tmp/b";
  alt_protocols = "gsiftp-nest, http-file";
  arguments = "-p 4 'two words'";
  x509proxy = "default";
]
[ dap_type = "reserve"; dest_host = "nest://host"; reserve_size = "200MB";
  reserve_id = 1; duration = "60 minutes" ]
[ dap_type = release; dest_host = turkey.cs.wisc.edu; allocation_id = 1; ]
"""
BARE = """
# old: no brackets
dap_type = transfer
src_url = http://server/one
dest_url = one
dap_type = transfer;
src_url = "two"; dest_url = "sub/"
checksum = MD5:900150983cd24fb0d6963f7d28e17f72; if_exists = skip
"""


def read(text: str, **macros: str) -> tuple[object, ...]:
    return read_requests(text, "in.dap", Macros(macros), "/work").placements


def wrong(text: str, **macros: str) -> DagFileError:
    with pytest.raises(DagFileError) as error:
        read(text, **macros)
    return error.value


def test_requests_with_brackets() -> None:
    assert read(BRACKETED) == (
        Transfer(
            parse_url("http://server/a b"),
            parse_url("/tmp/b"),
            line=4,
            alt_protocols=(("gsiftp", "nest"), ("http", "file")),
            arguments=("-p", "4", "two words"),
            proxy="default",
        ),
        Allocate("nest://host", "1", 200 * 1024**2, 3600, line=11),
        Release("turkey.cs.wisc.edu", "1", line=13),
    )


def test_requests_without_brackets() -> None:
    one, two = read(BARE)
    assert one == Transfer(parse_url("http://server/one"), parse_url("/work/one"), line=3)
    assert two == Transfer(
        parse_url("/work/two"),
        parse_url("/work/sub/"),
        line=6,
        checksum="md5:900150983cd24fb0d6963f7d28e17f72",
        if_exists="skip",
    )


def test_requests_of_which_the_type_is_not_the_first_key() -> None:
    text = "src_url = a\ndest_url = b\ndap_type = transfer\n"
    assert [request.line for request in read(text * 2)] == [1, 4]  # type: ignore[attr-defined]


def test_macros_are_expanded_in_values() -> None:
    text = 'dap_type = transfer; src_url = "http://h/$(File)"; dest_url = $(to:/tmp/x)'
    (transfer,) = read(text, file='a"; dest_url = "evil', n="$(file)")
    assert isinstance(transfer, Transfer)
    assert transfer.source.path == '/a"; dest_url = "evil'
    assert transfer.destination.path == "/tmp/x"


@pytest.mark.parametrize("end", ["", "\n", ";", "\r\n"])
def test_ends_of_files(end: str) -> None:
    assert len(read("dap_type = release; dest_host = h" + end)) == 1


TRANSFER = "dap_type = transfer\nsrc_url = http://h/a\ndest_url = /b\n"


@pytest.mark.parametrize(
    ("text", "line", "column", "message", "hint"),
    [
        ("", 1, 0, "the request file is empty", "begins with dap_type"),
        (" # nothing\n", 1, 0, "the request file is empty", ""),
        ("\x7fELF\0", 1, 5, "this is not text", ""),
        ("dap_type = transfre\n", 1, 12, "there is no dap_type 'transfre'", "mean transfer?"),
        ("src_url = a\n", 1, 1, "the request has no dap_type", "expected transfer"),
        ("dap_typ = transfer\n", 1, 1, "a request has no key 'dap_typ'", "mean dap_type?"),
        ("dap_type = transfer\ndest_url = b", 1, 1, "the transfer has no src_url", "source"),
        (TRANSFER + "dst_url = b", 4, 1, "a request has no key 'dst_url'", "mean dest_url?"),
        (TRANSFER + "zzzzzz = b", 4, 1, "a request has no key 'zzzzzz'", "expected dap_type, src"),
        (TRANSFER + "size = 3", 4, 1, "a request of type transfer has no size", "expected"),
        (TRANSFER + "dest_url = c", 4, 1, "dest_url is there twice", "begins with dap_type"),
        (TRANSFER + "checksum = md5:12", 4, 12, "md5 has 32 hexadecimal digits", ""),
        (TRANSFER + "checksum = crc:12", 4, 12, "'crc' is none of adler32", ""),
        (TRANSFER + "priority = high", 4, 12, "priority: 'high' is no integer", ""),
        (TRANSFER + "if_exists = keep", 4, 13, "none of overwrite, skip, fail", ""),
        (TRANSFER + "alt_protocols = http", 4, 17, "no pair of protocols", ""),
        (TRANSFER + "alt_protocols = ftp:99999-file", 4, 17, "no port of that number", ""),
        (TRANSFER + "arguments = it's", 4, 13, "its quotes are wrong", ""),
        (TRANSFER.replace("/b", "http://h/a"), 3, 12, "the destination is the source", ""),
        (TRANSFER.replace("/b", "http:///a"), 3, 12, "no host after http://", ""),
        (TRANSFER.replace("/a", "/a/"), 3, 12, "the source is a directory", "ends in /"),
        (TRANSFER.replace("/b", '"/b'), 3, 12, "quote is not closed", ""),
        (TRANSFER.replace("/b", "$(tto)"), 3, 12, "$(tto) is not defined", "mean $(to)?"),
        (TRANSFER.replace("/b", "$(loop)"), 3, 12, "in a circle", ""),
        (TRANSFER.replace("= /b", "/b"), 3, 10, "= is expected after dest_url", ""),
        (TRANSFER.replace("= /b", "="), 3, 11, "dest_url has no value", ""),
        ("[ dap_type = transfer;\n", 1, 1, "this [ is not closed", ""),
        ("[ ]", 1, 1, "the request has no dap_type", ""),
        ("] x", 1, 1, "a key is expected", ""),
        ('dap_type = "transfer" "x"', 1, 23, "a second value", ""),
        ("/* open", 1, 1, "this comment does not end", ""),
        ("dap_type = allocate; dest_host = h; size = 3 apples", 1, 44, "is no size", ""),
        ("dap_type = allocate; dest_host = h; duration = ever", 1, 48, "not a number", ""),
    ],
)
def test_what_is_wrong(text: str, line: int, column: int, message: str, hint: str) -> None:
    error = wrong(text, to="/c", loop="$(loop)")
    assert message in error.message
    assert (error.line, error.column) == (line, column)
    assert hint in error.hint


def test_a_message_has_file_line_and_caret() -> None:
    error = wrong(TRANSFER + "  chksum = x\n")
    assert error.detail().splitlines() == [
        "ERROR: in.dap:4 a request has no key 'chksum'",
        "    in.dap:4:3:",
        "    chksum = x",
        "    ^",
        "       did you mean checksum?",
    ]


def test_secrets_are_not_in_messages() -> None:
    error = wrong(TRANSFER.replace("http://h/a", "http://me:geheim@h:99999/a"))
    assert "geheim" not in error.detail()
    error = wrong(TRANSFER.replace("http://h/a", "http://me:geheim@h/a\nbogus = http://a:geheim@b"))
    assert "geheim" not in error.detail()


def test_all_errors_of_a_file_are_told() -> None:
    error = wrong(
        '[ dap_type = "transfer"; src_url = "a"; dst_url = "b"; chksum = "md5:1" ]\n'
        '[ dap_type = "allocate"; dest_host = "h" ]\n'
        '[ dap_type = "transfr" ]\n'
    )
    told = [error.message, *(other.message for other in error.others)]
    assert told == [
        "a request has no key 'dst_url'",
        "a request has no key 'chksum'",
        "there is no dap_type 'transfr'",
    ]
    assert error.detail().count("^") == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[ ]", "the request has no dap_type"),
        (";", "there is no request in the file"),
        ('dap_type = release\ndest_host = {"a", "b"}', "dest_host is one value, and here are 2"),
        ("dap_type = release\ndest_host = {}", "dest_host is one value, and here are 0"),
    ],
)
def test_what_asks_for_nothing_or_for_several_at_once(text: str, message: str) -> None:
    with pytest.raises(DagFileError, match=message):
        read(text)


def test_a_list_of_one_value_is_that_value() -> None:
    assert read('dap_type = release\ndest_host = {"a"}') == (Release("a", "1", 1),)
