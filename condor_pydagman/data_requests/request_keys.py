"""The keys of a request: for which kinds of request each is, and how its value is read.

Stork's documentation and its source have different names for some keys; both are known here.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import Any

from condor_pydagman.data_requests.requests import FAIL, OVERWRITE, SKIP
from condor_pydagman.data_requests.settings import read_ways
from condor_pydagman.data_requests.units import read_duration, read_size
from condor_pydagman.named_tuple import NamedTuple

TRANSFER, ALLOCATE, RELEASE = "transfer", "allocate", "release"
TYPES = {TRANSFER: TRANSFER, ALLOCATE: ALLOCATE, "reserve": ALLOCATE, RELEASE: RELEASE}
CHECKSUMS = {"adler32": 8, "md5": 32, "sha1": 40, "sha256": 64, "sha512": 128}
MAX_RETRIES = 1000

Read = Callable[[str], Any]


class Key(NamedTuple):
    """A key."""

    name: str  # as documented
    types: tuple[str, ...]  # of requests that have it
    read: Read  # its value from text; raises ValueError
    summary: str  # for the documentation
    field: str = ""  # of the request that it sets, '' if that is not done by the table
    other_names: tuple[str, ...] = ()  # the same, in Stork's source and in old files
    required: bool = False  # whether a request without it is wrong

    @property
    def is_list(self) -> bool:
        """Whether its value may be a list."""
        return self.read in (_words, _protocols, read_ways)


def _text(text: str) -> str:
    if not text.strip():
        raise ValueError("it is empty")
    return text


def _words(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise ValueError(f"its quotes are wrong: {error}") from None


def _integer(text: str) -> int:
    if not re.fullmatch(r"[+-]?[0-9]{1,9}", text.strip()):
        raise ValueError(f"{text!r} is no integer")
    return int(text)


def _retries(text: str) -> int:
    number = _integer(text)
    if not 0 <= number <= MAX_RETRIES:
        raise ValueError(f"it must be from 0 to {MAX_RETRIES}")
    return number


def _boolean(text: str) -> bool:
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    if text.strip().lower() not in words:
        raise ValueError(f"{text!r} is neither true nor false")
    return words[text.strip().lower()]


def _one_of(*words: str) -> Read:
    def read(text: str) -> str:
        word = text.strip().lower()
        if word not in words:
            raise ValueError(f"{text!r} is none of {', '.join(words)}")
        return word

    return read


_PROTOCOL = r"[A-Za-z][\w.+]*(?::[0-9]{1,5})?"


def _protocols(text: str) -> tuple[tuple[str, str], ...]:
    pairs = []
    for word in text.replace(",", " ").split():
        found = re.fullmatch(rf"({_PROTOCOL})-({_PROTOCOL})", word)
        if found is None:
            raise ValueError(f"{word!r} is no pair of protocols, like http-file or ftp:2121-file")
        if any(int(one.partition(":")[2] or 1) not in range(1, 65536) for one in found.groups()):
            raise ValueError(f"{word!r}: there is no port of that number")
        pairs.append((found[1].lower(), found[2].lower()))
    return tuple(pairs)


def read_checksum(text: str) -> str:
    """`md5:...` as it is compared: in lower case, with leading zeros.

    Raises:
        ValueError: it is none; the message says what is expected.
    """
    algorithm, _, digits = text.strip().lower().partition(":")
    algorithm = algorithm.replace("-", "")
    if algorithm not in CHECKSUMS:
        known = ", ".join(CHECKSUMS)
        raise ValueError(f"{algorithm!r} is none of {known}; it is written like md5:<digits>")
    count = CHECKSUMS[algorithm]
    least = 1 if algorithm == "adler32" else count
    if not re.fullmatch(rf"[0-9a-f]{{{least},{count}}}", digits):
        raise ValueError(f"{algorithm} has {count} hexadecimal digits")
    return f"{algorithm}:{digits.rjust(count, '0')}"


_ALL = (TRANSFER, ALLOCATE, RELEASE)
_SPACE = (ALLOCATE, RELEASE)

KEYS = (
    Key("dap_type", _ALL, _text, "transfer, allocate (or reserve) or release", required=True),
    Key("src_url", (TRANSFER,), _text, "source: a URL or a path", required=True),
    Key("dest_url", (TRANSFER,), _text, "destination: a URL or a path", required=True),
    Key("alt_protocols", (TRANSFER,), _protocols,
        'pairs of protocols tried in turn if those of the URLs fail: "gsiftp-file, http:8080-file"',
        "alt_protocols"),
    Key("arguments", _ALL, _words, "further arguments for a module", "arguments"),
    Key("input", (TRANSFER,), _text, "file that a module reads as its standard input"),
    Key("output", (TRANSFER,), _text, "file for a module's standard output"),
    Key("err", (TRANSFER,), _text, "file for a module's standard error", "", ("error",)),
    Key("log", _ALL, _text, "job event log, besides DAGMan's own"),
    Key("x509proxy", (TRANSFER,), _text,
        'path of an X.509 proxy; "default" for the usual one', "proxy"),
    Key("redirect_hosts", (TRANSFER,), _words,
        'hosts to which an http server may redirect uploads: "*.example.org"', "redirect_hosts"),
    Key("cred_name", (TRANSFER,), _text,
        "name of a credential: a profile, or a key file", "credential"),
    Key("checksum", (TRANSFER,), read_checksum,
        "what the file must have: md5:..., adler32:..., sha256:...", "checksum"),
    Key("if_exists", (TRANSFER,), _one_of(OVERWRITE, SKIP, FAIL),
        "overwrite (the default), skip what has the right size or checksum, or fail",
        "if_exists"),
    Key("ways", (TRANSFER,), read_ways, "which ways are tried, in order", "ways"),
    Key("stall_timeout", (TRANSFER,), read_duration,
        "a connection without data is broken off after it", "stall_timeout_s"),
    Key("dest_host", _SPACE, _text,
        "host, URL or directory whose space it is", "host", ("reserve_host",), required=True),
    Key("size", (ALLOCATE,), read_size, 'space: "200MB"', "size", ("reserve_size",)),
    Key("duration", (ALLOCATE,), read_duration,
        'the allocation ends after it: "60 minutes"', "duration_s", ("reserve_duration",)),
    Key("allocation_id", _ALL, _text,
        "name of the allocation; of a transfer: whose space it uses",
        "allocation_id", ("reserve_id",)),
    Key("wait", (ALLOCATE,), _boolean,
        "false: fail if there is no room, instead of waiting", "wait"),
    Key("priority", _ALL, _integer, "placements of higher priority go first", "priority"),
    Key("max_retries", _ALL, _retries,
        "attempts after the first one, for faults that may pass", "max_retries", ("max_retry",)),
    Key("max_delay", _ALL, read_duration,
        "longest delay before such an attempt", "max_delay_s"),
)  # fmt: skip

BY_NAME = {name: key for key in KEYS for name in (key.name, *key.other_names)}
