"""URLs and paths of a request: their parts, and how to show them without secrets.

A text without a scheme is the path of a file, taken literally.  In a URL, `%XX` stands for a byte,
and `#` for itself: a fragment makes no sense here.  `?` begins a query only where servers know
queries (`QUERY_SCHEMES`); elsewhere it is a character of the path.
"""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import quote, quote_from_bytes, unquote

from condor_pydagman.named_tuple import NamedTuple

QUERY_SCHEMES = frozenset(
    ("http", "https", "dav", "davs", "root", "roots", "xroot", "osdf", "pelican")
)
HOSTLESS = frozenset(("osdf",))  # one federation: what follows the slashes is a path
LOCAL = "file"
# A path that begins like `http:/` is a mistake rather than a file.
_REMOTE_SCHEMES = QUERY_SCHEMES | {"ftp", "ftps", "gsiftp", "s3", "sftp", "srm"}
MASK = "***"
KEPT_HOSTS = 64  # that need not be looked at again: most URLs of a request file have the same one
# Parameters of a query that grant access: signatures and tokens.
_ACCESS_WORDS = (
    r"(?:[\w-]*(?:token|signature|secret|password|passwd|credential|key|authz?|jwt|pwd|pass|sig))"
)
_SECRET_QUERY = re.compile(rf"([?&;]{_ACCESS_WORDS}=)[^&\s\"']*", re.IGNORECASE)
_SECRET_USER = re.compile(r"(\b[A-Za-z][\w+.-]*://)[^/\s\"'<>]*@")
# A password with a `/`, which makes no URL but is one all the same; not a port.
_SECRET_SLASH = re.compile(
    r"(\b[A-Za-z][\w+.-]*://)[^/\s\"'<>:@]{0,200}:(?!\d+/)[^\s\"'<>]{0,200}@"
)
_SECRET_HEADER = re.compile(
    r"((?:authorization|bearer|x-amz-security-token)['\"]?\s*[:= ]\s*(?:bearer |basic )?)"
    r"[^\s\"',]+",
    re.IGNORECASE,
)
_HERE = re.compile(r"/(?:\./)+")  # parts of a path that mean nothing
_NOT_IN_HOST = frozenset('#?%\\/@<>^|"{}')  # programs differ in where they end a host
_SAFE = "/~!$&'()*+,;=:@"
_PLAIN = re.compile(rf"[A-Za-z0-9_.{_SAFE}-]*")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(//)?(.*)", re.DOTALL)


class Url(NamedTuple):
    """One end of a transfer."""

    scheme: str  # in lower case; `file` for a path
    path: str  # decoded, with its leading `/`
    host: str = ""  # in lower case, without brackets; '' for a local file
    port: int = 0  # 0 if it is the scheme's own
    # '' if there is none.  `repr` and `str` mask them.
    user: str = ""
    password: str = ""
    query: str = ""  # after the `?`, as written

    @property
    def is_local(self) -> bool:
        """Whether it names a file of this machine."""
        return self.scheme == LOCAL

    @property
    def server(self) -> str:
        """`host` or `host:port`; '' for a local file."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}" if self.port else host

    @property
    def name(self) -> str:
        """Last part of the path, '' if it ends in `/`."""
        return self.path.rpartition("/")[2]

    @property
    def is_directory(self) -> bool:
        """Whether it is written as a directory: with a `/` at its end."""
        return self.path.endswith("/")

    def with_secrets(self) -> str:
        """The whole URL, encoded, for the one that performs the transfer; never to be shown."""
        if self.is_local:
            return "file://" + _encoded(self.path)
        user = ""
        if self.user or self.password:
            password = f":{quote(self.password, safe='')}" * bool(self.password)
            user = f"{quote(self.user, safe='')}{password}@"
        query = f"?{self.query}" if self.query else ""
        return f"{self.scheme}://{user}{self.server}{self.encoded_path}{query}"

    @property
    def encoded_path(self) -> str:
        """The path as it is sent to a server."""
        return _encoded(self.path)

    def __str__(self) -> str:
        """The URL, for a person: path not encoded, secrets masked."""
        if self.is_local:
            return self.path
        user = MASK + "@" if self.user else ""
        text = f"{self.scheme}://{user}{self.server}{self.path}"
        return masked_text(f"{text}?{self.query}") if self.query else text

    def __repr__(self) -> str:
        return f"Url({str(self)!r})"

    def child(self, relative: str) -> Url:
        """The URL of a file below this directory."""
        return self.at(f"{self.path.rstrip('/')}/{relative}")

    def sibling(self, name: str) -> Url:
        """The URL of another file in the same directory."""
        return self.at(self.path.rpartition("/")[0] + "/" + name)

    def at(self, path: str) -> Url:
        """The URL of another path; `_replace` takes four times as long."""
        return Url(self.scheme, path, *self[2:])


def parse_url(text: str, directory: str = "/") -> Url:
    """Read a URL or a path.

    Args:
        text: as it is in the request.
        directory: absolute path that relative paths begin at.

    Raises:
        ValueError: it is no URL; the message says what is wrong, without secrets.
    """
    found = _SCHEME.fullmatch(text)
    if found is None or (not found[2] and found[1].lower() != LOCAL):
        if found is not None and found[1].lower() in _REMOTE_SCHEMES and found[3][:1] == "/":
            raise ValueError(f"write {found[1]}:// with two slashes (or ./{found[1]}: for a file)")
        return _local(text, directory)
    scheme, slashes, rest = found[1].lower(), found[2], found[3]
    if scheme == LOCAL:
        return _file_url(rest, directory) if slashes else _local(unquote_path(rest), directory)
    authority, path = _cut(rest, "/")
    if scheme in QUERY_SCHEMES and "?" in authority:
        authority, path = _cut(rest, "?")
    user, _, server = authority.rpartition("@")
    host, port = _host_and_port(server)
    if scheme in HOSTLESS:
        host, port, path = "", 0, f"/{server}{path}" if server else path
    elif not host:
        raise ValueError(f"no host after {scheme}://")
    elif not is_host(host):
        raise ValueError(f"{host!r} is no host")
    query = ""
    if scheme in QUERY_SCHEMES:
        path, _, query = path.partition("?")
    decoded = unquote_path(path) or "/"
    _refuse_no_path(decoded)
    name, _, password = user.partition(":")
    return Url(scheme, decoded, host, port, unquote(name), unquote(password), query)


@lru_cache(KEPT_HOSTS)
def is_host(text: str) -> bool:
    """Whether all programs take the whole of it for a host."""
    return not any(c in _NOT_IN_HOST or c.isspace() or not c.isprintable() for c in text)


def masked_text(text: str) -> str:
    """`text` without users and passwords of URLs in it, and without tokens in their queries."""
    text = _SECRET_USER.sub(rf"\1{MASK}@", text)
    text = _SECRET_SLASH.sub(rf"\1{MASK}@", text)
    text = _SECRET_QUERY.sub(rf"\1{MASK}", text)
    return _SECRET_HEADER.sub(rf"\1{MASK}", text)


def unquote_path(text: str) -> str:
    """`text` with `%XX` decoded; bytes that are not UTF-8 as in a path of Python's."""
    return unquote(text, errors="surrogateescape")


def _encoded(path: str) -> str:
    if _PLAIN.fullmatch(path):
        return path
    return quote_from_bytes(path.encode("utf-8", "surrogateescape"), safe=_SAFE)


def _local(path: str, directory: str) -> Url:
    if not path:
        raise ValueError("it is empty")
    _refuse_no_path(path)
    full = path if path.startswith("/") else f"{directory.rstrip('/')}/{path}"
    return Url(LOCAL, _HERE.sub("/", full))


def _refuse_no_path(path: str) -> None:
    if "\0" in path:
        raise ValueError("a path can't have a zero byte")
    try:
        path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise ValueError("it has characters that are no text") from None


def _file_url(rest: str, directory: str) -> Url:
    host, path = _cut(rest, "/")
    if host not in ("", "localhost"):
        raise ValueError(
            f"file://{host} names another machine; a path of this one begins with file:///"
        )
    return _local(unquote_path(path), directory)


def _cut(text: str, mark: str) -> tuple[str, str]:
    """What is before the first `mark`, and the rest with it."""
    at = text.find(mark)
    return (text, "") if at < 0 else (text[:at], text[at:])


@lru_cache(KEPT_HOSTS)
def _host_and_port(server: str) -> tuple[str, int]:
    found = re.fullmatch(r"(?:\[([0-9A-Fa-f:.]+)\]|([^\[\]:]*))(?::(\d*))?", server)
    if found is None and not server.startswith("[") and ":" in server:
        # what is behind the colon may be the beginning of a password
        name = server.partition(":")[0]
        raise ValueError(f"what follows {name!r} is no port; a / in a password is written %2F")
    if found is None:
        raise ValueError(f"{server!r} is no host")
    host, port = found[1] or found[2] or "", int(found[3] or 0)
    if port > 65535:
        raise ValueError("there is no port of that number")
    return host.lower(), port
