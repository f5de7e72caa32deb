"""Services that fsspec knows: S3, XRootD (`root`), Google's and Microsoft's stores, HDFS, ...

What is common to them is done by fsspec's own interface.  An object store shows a file only when
it is whole, so there it needs no temporary name; what was begun is given up if the transfer fails.

Its file systems get credentials, timeouts, and no retries of their own.
"""

from __future__ import annotations

import contextlib
import difflib
import importlib
import importlib.util
import os
from collections.abc import Iterator, Mapping
from typing import Any

from condor_pydagman.data_requests.faults import Fault, FaultKind, no_file
from condor_pydagman.data_requests.urls import Url
from condor_pydagman.placement.endpoints.endpoint import (
    EMPTY,
    Closing,
    Endpoint,
    Entry,
    unless,
)
from condor_pydagman.placement.endpoints.http_credentials import bearer_token
from condor_pydagman.placement.endpoints.library_faults import (
    Errors,
    LibraryReader,
    LibraryWriter,
    mapped,
)
from condor_pydagman.placement.way import Surroundings

# Settings of XRootD's client (seconds).  Its own would have a refused connection take ten minutes.
_XROOTD = {
    "ConnectionWindow": "connect",
    "RequestTimeout": "stall",
    "StreamTimeout": "stall",
}


def file_system(
    scheme: str,
    url: Url,
    surroundings: Surroundings,
    credential: str,
    proxy: str,
    block_bytes: int,
) -> Any:
    """A file system of fsspec's for a URL."""
    import fsspec

    options: dict[str, Any] = {"skip_instance_cache": True, "use_listings_cache": False}
    if scheme in ("s3", "s3a"):
        options.update(_s3(surroundings, credential, block_bytes))
    elif scheme == "root":
        _set_xrootd_timeouts(surroundings)
        if proxy:  # the client reads it when it connects, from this process's environment alone
            os.environ["X509_USER_PROXY"] = proxy
        user = f"{url.user}@" if url.user else ""
        options["hostid"] = f"{user}{url.server}"
    elif scheme in ("osdf", "pelican"):
        options.update(_pelican(url, surroundings))
    elif url.host and scheme not in ("gs", "gcs", "abfs", "abfss", "az", "adl", "oci", "oss"):
        options["host"] = url.host
        if url.port:
            options["port"] = url.port
        if url.user:
            options.update(username=url.user, password=url.password)
    made = fsspec.filesystem(scheme, **options)
    if scheme in ("osdf", "pelican"):
        # One that it finds itself it would show to its issuer first, who may not be reached.
        token = bearer_token(surroundings.environment)
        made.token = f"Bearer {token}" if token else None
    if hasattr(made, "retries"):
        made.retries = 1
    return made


def _s3(surroundings: Surroundings, credential: str, block_bytes: int) -> dict[str, Any]:
    settings, environment = surroundings.settings, surroundings.environment
    options: dict[str, Any] = {
        "default_block_size": block_bytes,
        "max_concurrency": 1,
        "config_kwargs": {
            "connect_timeout": settings.connect_timeout_s,
            "read_timeout": settings.stall_timeout_s,
            "retries": {"total_max_attempts": 1},
        },
    }
    if credential:
        options["profile"] = credential
    elif environment.get("AWS_ACCESS_KEY_ID"):
        options["key"] = environment["AWS_ACCESS_KEY_ID"]
        options["secret"] = environment.get("AWS_SECRET_ACCESS_KEY", "")
        options["token"] = environment.get("AWS_SESSION_TOKEN")
    endpoint = environment.get("AWS_ENDPOINT_URL_S3") or environment.get("AWS_ENDPOINT_URL")
    if endpoint:
        options["endpoint_url"] = endpoint
    region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
    if region:
        options["client_kwargs"] = {"region_name": region}
    _set_files(environment)
    return options


def _pelican(url: Url, surroundings: Surroundings) -> dict[str, Any]:
    import aiohttp

    settings = surroundings.settings
    timeout = aiohttp.ClientTimeout(
        total=None, sock_connect=settings.connect_timeout_s, sock_read=settings.stall_timeout_s
    )
    options: dict[str, Any] = {"client_kwargs": {"timeout": timeout, "trust_env": True}}
    options["oidc_timeout_seconds"] = 1  # nobody is there to answer a login
    options["get_webdav_client"] = _webdav_client
    if url.host:
        options["federation_discovery_url"] = f"pelican://{url.server}"
    return options


def _webdav_client(options: dict[str, Any]) -> Any:
    """Where it asks for sizes and lists: with the token only if it is encrypted."""
    core: Any = importlib.import_module("pelicanfs.core")
    if not options["hostname"].startswith("https:"):
        options = {**options, "token": None}
    return core.get_webdav_client(options)


def _set_files(environment: Mapping[str, str]) -> None:
    """botocore reads names of files with credentials from this process's environment alone."""
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "HOME"):
        if environment.get(name):
            os.environ[name] = environment[name]
    os.environ.setdefault("AWS_EC2_METADATA_DISABLED", "true")  # it would be asked for seconds


def _set_xrootd_timeouts(surroundings: Surroundings) -> None:
    """It has read XRD_... of the environment when it was loaded; what they set can't be changed."""
    client: Any = importlib.import_module("XRootD.client")
    settings = surroundings.settings
    seconds = {"connect": settings.connect_timeout_s, "stall": settings.stall_timeout_s}
    for name, which in _XROOTD.items():
        client.EnvPutInt(name, max(int(seconds[which]), 1))
    client.EnvPutInt("ConnectionRetry", 1)
    client.EnvPutInt("StreamErrorWindow", 0)  # else no later attempt connects for half an hour
    for name, value in surroundings.environment.items():
        if name.startswith("XRD_") or name in ("X509_USER_PROXY", "BEARER_TOKEN_FILE"):
            os.environ[name] = value


INSTALL = "pip install 'condor_pydagman[transfer]'"
INSTALL_PELICAN = "pip install 'condor_pydagman[pelican]', with Python 3.11 or later"
PELICAN = ("osdf", "pelican")
_OF_GFAL = ("srm", "gsiftp")
READ_BYTES = 4 << 20  # that are asked for at once
PART_BYTES = 5 << 20  # of a part of an upload; S3 takes none that is smaller
MAX_PARTS = 9000  # S3 takes 10,000
OBJECT_STORES = frozenset(("s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oci", "oss"))
# What fsspec has besides services: files of this machine, archives, caches.
_NO_SERVICES = frozenset(
    (
        *("file", "local", "memory", "asynclocal", "async_wrapper", "generic", "dir", "data"),
        *("zip", "tar", "libarchive", "reference", "jupyter", "jlab"),
        *("cached", "blockcache", "filecache", "simplecache"),
        *("http", "https", "webdav", "dav", "davs"),
    )
)
NO_PATH = "a key that is no path, as a part of it is empty"
_USUAL = ("http", "https", "dav", "davs", "ftp", "ftps", "sftp", "s3", "root")
_VERSIONS = ("ETag", "etag", "mtime", "LastModified", "last_modified", "md5Hash")


def known(scheme: str) -> str:
    """Why there is no endpoint for a scheme, and what to do about it; '' if there is one."""
    if scheme == "sftp":
        from condor_pydagman.placement.endpoints import sftp_files

        return sftp_files.why_unusable()
    if scheme in PELICAN and importlib.util.find_spec("pelicanfs") is None:
        return f"for {scheme}, pelicanfs is needed: {INSTALL_PELICAN}"
    if scheme in _OF_GFAL:
        return f"it does not know {scheme}"
    try:
        import fsspec
        from fsspec.registry import known_implementations
    except ImportError:
        return f"for {scheme}, fsspec is needed: {INSTALL}"
    scheme = _fsspec_name(scheme)
    if scheme in _NO_SERVICES or not (
        scheme in known_implementations or scheme in fsspec.available_protocols()
    ):
        near = difflib.get_close_matches(scheme, (*_USUAL, *known_implementations), 1, 0.7)
        meant = f"; did you mean {near[0]}?" if near else ""
        return f"fsspec does not know {scheme}{meant}"
    try:
        fsspec.get_filesystem_class(scheme)
    except (ImportError, ValueError) as error:
        return f"fsspec needs a package for {scheme} ({error}): {INSTALL}"
    return ""


def open_endpoint(
    url: Url, surroundings: Surroundings, credential: str, proxy: str = ""
) -> Endpoint:
    """A new endpoint for a scheme of which `known` says nothing.

    Raises:
        Fault: its credentials can't be used.
    """
    if url.scheme == "sftp":
        from condor_pydagman.placement.endpoints.sftp_files import SftpFiles

        return SftpFiles(url, surroundings, credential)
    return FsspecFiles(url, surroundings, credential, proxy)


def _fsspec_name(scheme: str) -> str:
    return {"xroot": "root", "roots": "root"}.get(scheme, scheme)


class FsspecFiles(Closing):
    """An `Endpoint` for a service of fsspec's."""

    can_list = True
    can_append = False

    def __init__(
        self, url: Url, surroundings: Surroundings, credential: str, proxy: str = ""
    ) -> None:
        self._scheme = _fsspec_name(url.scheme)
        self._server = url.server
        self.appears_whole = url.scheme in OBJECT_STORES
        self.can_rename = not self.appears_whole
        with self._errors(url):
            self._fs: Any = file_system(
                self._scheme, url, surroundings, credential, proxy, PART_BYTES
            )

    def look(self, url: Url) -> Entry | None:
        """See `Endpoint`."""
        with unless(FaultKind.MISSING), self._errors(url):
            return _entry("", self._fs.info(self._path(url)))
        return None

    def files_below(self, url: Url, *, deep: bool = True) -> Iterator[Entry]:
        """See `Endpoint`."""
        root = self._path(url).rstrip("/") + "/"
        with self._errors(url):
            depth = None if deep else 1
            found = self._fs.find(root, maxdepth=depth, detail=True, withdirs=deep)
        parents = {path.rstrip("/").rpartition("/")[0].rstrip("/") for path in found}
        for path, info in found.items():
            relative = path[len(root) :] if path.startswith(root) else path.lstrip("/")
            if path.endswith("/") or info.get("type") == "directory":
                if deep and path.rstrip("/") not in parents:
                    self.leaves_out(relative, EMPTY)
            elif "" in relative.split("/"):
                self.leaves_out(relative, NO_PATH)
            else:
                yield _entry(relative, info)

    def read(self, url: Url, offset: int) -> FsspecReader:
        """See `Endpoint`."""
        with self._errors(url):
            path = self._path(url)
            info = self._fs.info(path)
            if info.get("type") == "directory":
                raise no_file(url)
            file = self._fs.open(path, "rb", block_size=READ_BYTES, cache_type="none")
            if offset:
                file.seek(offset)
        return FsspecReader(file, _entry("", info), offset, lambda: self._errors(url))

    def write(self, url: Url, offset: int, size: int | None) -> FsspecWriter:
        """See `Endpoint`."""
        if self._scheme in PELICAN:
            raise Fault(FaultKind.REFUSED, f"{url}: pelicanfs uploads only whole files of a disk")
        with self._errors(url):
            path = self._path(url)
            if not self.appears_whole:
                with contextlib.suppress(FileExistsError):
                    self._fs.makedirs(path.rpartition("/")[0], exist_ok=True)
            more = {"autocommit": False} if self.appears_whole else {}
            part_bytes = max(PART_BYTES, (size or 0) // MAX_PARTS)
            file = self._fs.open(path, "wb", block_size=part_bytes, **more)
        return FsspecWriter(file, self.appears_whole, lambda: self._errors(url))

    def rename(self, url: Url, to: Url) -> None:
        """See `Endpoint`."""
        with self._errors(to):
            old, new = self._path(url), self._path(to)
            with contextlib.suppress(FileNotFoundError):
                if self._fs.exists(new):
                    self._fs.rm_file(new)
            self._fs.mv(old, new)

    def remove(self, url: Url) -> None:
        """See `Endpoint`."""
        with unless(FaultKind.MISSING), self._errors(url):
            self._fs.rm_file(self._path(url))

    def copy(self, url: Url, to: Url) -> bool:
        """See `Endpoint`; only object stores copy by themselves."""
        if not self.appears_whole:
            return False
        with self._errors(url):
            self._fs.cp_file(self._path(url), self._path(to))
        return True

    def _path(self, url: Url) -> str:
        """A path as fsspec has it: with the bucket in an object store."""
        path = f"{url.host}{url.path}" if self.appears_whole else url.path
        return path.replace("//", "/") if self._scheme == "root" else path

    def _errors(self, url: Url) -> contextlib.AbstractContextManager[None]:
        return mapped(url, self._server if not self.appears_whole else self._scheme)


class FsspecReader(LibraryReader):
    """Says so if the file ends early."""

    def _block(self) -> bytes:
        block = bytes(self._file.read(READ_BYTES))
        self._at += len(block)
        left = (self.size or 0) - self._at
        if not block and left > 0:
            raise Fault(FaultKind.SERVER, f"{left} bytes before the end nothing more came")
        return block


class FsspecWriter(LibraryWriter):
    """Shows the file of an object store when it is whole, if `commits`."""

    def __init__(self, file: Any, commits: bool, errors: Errors) -> None:
        super().__init__(file, errors)
        self._commits = commits

    def commit(self) -> None:
        """See `endpoint.Writer`."""
        with self._errors():
            self._file.close()
            if self._commits:
                self._file.commit()

    def abort(self) -> None:
        """See `endpoint.Writer`."""
        with contextlib.suppress(Exception):
            if self._commits:
                self._file.discard()
            self._file.closed = True  # or its destructor would write what is left


def _entry(path: str, info: dict[str, Any]) -> Entry:
    size = info.get("size")
    version = next((str(info[name]) for name in _VERSIONS if info.get(name)), "")
    directory = info.get("type") == "directory"
    return Entry(path, int(size) if size is not None else None, directory, version)
