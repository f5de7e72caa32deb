"""Lines of LIST, as servers write them."""

from __future__ import annotations

import pytest

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.placement.endpoints.ftp_files import Facts, entries_of, facts_of_list

DIRECTORY = "ftp://h/d/"


@pytest.mark.parametrize(
    ("line", "kind", "size", "name"),
    [
        ("-rw-r--r--    1 1000     1000            5 Jan  2  2020 a b", "file", "5", "a b"),
        ("-rw-r--r--   1 ftp      ftp       1048576 Nov 29 16:05  x", "file", "1048576", " x"),
        ("-rw-r--r--. 1 me Domain Users 7 Nov 29 16:05 f", "file", "7", "f"),
        ("-rw-rw-r--+ 1 me 12 Nov  9 2024 2024 report.txt", "file", "12", "2024 report.txt"),
        ("-rw-r--r-- 1 me us 12 2024-11-29 10:00 iso", "file", "12", "iso"),
        ("-rw-r--r-- 1 me us 12 9 Mär 10:00 day first", "file", "12", "day first"),
        ("drwxrwsr-t  10 me       us           4096 Feb 30 10:11 d", "dir", "4096", "d"),
        ("lrwxrwxrwx 1 me us 4 Jan  1 00:00 l -> ../d -> e", "link", "4", "l"),
        ("prw-r--r-- 1 me us 0 Jan  1 00:00 fifo", "other", "0", "fifo"),
        ("crw-rw-rw- 1 root root 1, 3 Jan  1 00:00 null", "other", "3", "null"),
        ("01-23-20  11:04AM       <DIR>          a dir", "dir", "", "a dir"),
        ("01-23-2020  23:04                 1234  x", "file", "1234", " x"),
        ("01-23-20  11:04AM       <JUNCTION>     j", "link", "", "j"),
    ],
)
def test_lines_of_list(line: str, kind: str, size: str, name: str) -> None:
    assert facts_of_list(line, DIRECTORY) == (name, {"type": kind, "size": size})


def test_a_whole_list() -> None:
    line = b"-rw-r--r-- 1 me us 1 Jan  1 00:00 "

    def read(line: str) -> tuple[str, Facts] | None:
        return facts_of_list(line, DIRECTORY)

    listing = bytearray(b"total 8\r\n\r\n" + line + b".\r\n" + line + b"a\xfc\r\n" + line + b"b")
    assert [name for name, _ in entries_of(listing, read)] == ["a\udcfc", "b"]


@pytest.mark.parametrize("line", ["+i8388621.48594,m825718503,r,s280,\tx", "no list", "-rw-r--r--"])
def test_a_line_that_can_not_be_read_is_told(line: str) -> None:
    with pytest.raises(Fault, match="ftp://h/d/: no MLSD, and a line of LIST that") as fault:
        facts_of_list(line, DIRECTORY)
    assert fault.value.kind is FaultKind.REFUSED
