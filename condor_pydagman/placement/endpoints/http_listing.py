"""Lists of files that http servers give: pages of links, and WebDAV's PROPFIND (RFC 4918)."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping
from html import unescape
from urllib.parse import urljoin, urlsplit
from xml.etree import ElementTree

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.urls import unquote_path
from condor_pydagman.placement.endpoints.endpoint import Entry, check_count, whole_number

PROPFIND_BODY = (
    b'<?xml version="1.0"?><propfind xmlns="DAV:"><prop><getcontentlength/><resourcetype/>'
    b"<getetag/><getlastmodified/></prop></propfind>"
)
# Each part is bounded: a page is the server's, and may be made to take long.
_LINK = re.compile(
    r"<a\s[^<>]{0,4000}?\bhref\s{0,9}=\s{0,9}"
    r"(?:\"([^\"<>]{0,8000})\"|'([^'<>]{0,8000})'|([^\s\"'<>]{1,8000}))",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"(?!\.)[\w.,=+~@-]{1,255}", re.ASCII)
MAX_TAG = 65536  # characters
MAX_TEXT = 65536  # characters of a property
MAX_NESTING = 64
MAX_PART_BYTES = 1 << 20  # of a tag, with its attributes, and of anything else that is one thing
MAX_NAMES = 10_000  # of elements and attributes; the parser keeps them all
_DAV = "{DAV:}"
_PROPERTIES = tuple(
    _DAV + name for name in ("href", "getcontentlength", "getetag", "getlastmodified")
)


def links_of(blocks: Iterable[bytes], url: str, path: str) -> Iterator[Entry]:
    """What a page of links (Apache, nginx, Python) has directly in its directory, by the paths of
    URLs, decoded; a directory's ends in `/`.

    Args:
        blocks: of the page.
        url: of the page, which may be elsewhere, if the server has said so.
        path: of the directory that was asked for, decoded.

    Raises:
        Fault: there are too many.
    """
    names: dict[str, None] = {}  # in order
    there = unquote_path(urlsplit(url).path)
    for text in _pieces(blocks):
        for found in _LINK.finditer(text):
            link = found[1] or found[2] or found[3] or ""
            # What most links are needs no decoding, which takes 30 times as long.
            name = link if _PLAIN.fullmatch(link) else _name(unescape(link), url, there)
            if name:
                names[name] = None
        check_count(len(names), urlsplit(url).netloc)
    return (Entry(path + name, None, name.endswith("/")) for name in names)


def entries_of(blocks: Iterable[bytes], server: str) -> list[Entry]:
    """What an answer to PROPFIND has, by paths as of `links_of`.

    Raises:
        Fault: it is no such answer.
    """
    responses = _Responses(server)
    parser = ElementTree.XMLParser(target=responses)  # noqa: S314  # no entities, see `doctype`
    try:
        for block in blocks:
            responses.expect(len(block))
            parser.feed(block)
        parser.close()
    except ElementTree.ParseError as error:
        raise Fault(FaultKind.SERVER, f"{server} sends no list: {error}") from None
    return responses.found


class _Responses:
    """Takes what it needs of an answer while it is parsed, so that no tree is in memory."""

    def __init__(self, server: str) -> None:
        self.found: list[Entry] = []
        self._server = server
        self._depth = 0
        self._is_directory = False
        self._texts: dict[str, str] = {}
        self._text: list[str] | None = None  # of the property that is open
        self._length = 0
        self._unseen = 0  # bytes since the parser has told anything
        self._names: set[str] = set()

    def expect(self, size: int) -> None:
        """So many bytes go to the parser, which keeps what it can't tell yet."""
        self._unseen += size
        if self._unseen > MAX_PART_BYTES:
            reason = f"{self._server} sends a list with a tag of more than {MAX_PART_BYTES} bytes"
            raise Fault(FaultKind.REFUSED, reason)

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        """Entities can only be defined here."""
        raise Fault(FaultKind.REFUSED, f"{self._server} sends a list with entities")

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        self._unseen = 0
        self._names.add(tag)
        self._names.update(attributes)
        if len(self._names) > MAX_NAMES:
            reason = f"{self._server} sends a list with more than {MAX_NAMES} names of properties"
            raise Fault(FaultKind.REFUSED, reason)
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise Fault(FaultKind.REFUSED, f"{self._server} sends a list that is nested too deeply")
        if tag == _DAV + "response":
            self._is_directory, self._texts = False, {}
        elif tag == _DAV + "collection":
            self._is_directory = True
        self._text, self._length = ([], 0) if tag in _PROPERTIES else (None, 0)

    def data(self, text: str) -> None:
        """Text comes."""
        self._unseen = 0
        if self._text is not None and self._length < MAX_TEXT:
            self._text.append(text)
            self._length += len(text)

    def end(self, tag: str) -> None:
        """An element ends."""
        self._unseen = 0
        self._depth -= 1
        if self._text is not None:
            text = "".join(self._text).strip()
            if text:
                self._texts.setdefault(tag, text)
        self._text = None
        if tag == _DAV + "response":
            self._add()

    def close(self) -> None:
        """The answer ends."""

    def _add(self) -> None:
        href, length, tag, changed = (self._texts.get(name, "") for name in _PROPERTIES)
        try:
            path = unquote_path(urlsplit(href).path)
        except ValueError:
            return
        if self._is_directory and not path.endswith("/"):
            path += "/"
        check_count(len(self.found) + 1, self._server)
        size, is_directory = whole_number(length), path.endswith("/")
        self.found.append(Entry(path, size, is_directory, tag or changed))


def _pieces(blocks: Iterable[bytes]) -> Iterator[str]:
    """A page as text, in pieces that end where a tag begins."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    rest = ""
    for block in blocks:
        rest += decoder.decode(block)
        cut = max(rest.rfind("<"), 0)
        yield rest[:cut]
        rest = rest[cut:] if len(rest) - cut < MAX_TAG else ""
    yield rest


def _name(link: str, url: str, path: str) -> str:
    """What a link names in its page's directory; '' if it leads elsewhere."""
    if not link or link.startswith(("?", "#")):
        return ""
    try:
        parts = urlsplit(urljoin(url, link))
    except ValueError:
        return ""
    if parts.query or (parts.scheme, parts.netloc) != urlsplit(url)[:2]:
        return ""
    target = unquote_path(parts.path)
    name = target.removeprefix(path)
    return name if target.startswith(path) and "/" not in name.rstrip("/") else ""
