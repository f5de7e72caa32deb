"""The endpoint for a URL, by its scheme.  What needs a package is imported when it is used."""

from __future__ import annotations

from collections.abc import Collection

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.urls import LOCAL, Url
from condor_pydagman.placement.endpoints import curl_names
from condor_pydagman.placement.endpoints.endpoint import Endpoint
from condor_pydagman.placement.endpoints.local_files import LocalFiles
from condor_pydagman.placement.way import Surroundings

HTTP_SCHEMES = ("http", "https", "dav", "davs")
FTP_SCHEMES = ("ftp", "ftps")
CURL_SCHEMES = (*HTTP_SCHEMES, *FTP_SCHEMES)
PLAIN_SCHEMES = {"dav": "http", "davs": "https"}  # other names of the same service
INSTALL_CURL = (
    "pip install 'condor_pydagman[transfer]', apt install python3-pycurl,"
    " or dnf install python3-pycurl"
)
OLDEST_LIBCURL = 0x074700  # 7.71
USUAL_PORTS = {"http": 80, "https": 443, "ftp": 21, "ftps": 21, "sftp": 22, "root": 1094}


def why_unknown(scheme: str) -> str:
    """Why there is no endpoint for a scheme, and what to do about it; '' if there is one."""
    if scheme == LOCAL:
        return ""
    if scheme in CURL_SCHEMES:
        return _why_no_curl(scheme)
    from condor_pydagman.placement.endpoints import fsspec_files

    return fsspec_files.known(scheme)


def endpoint_for(
    url: Url, surroundings: Surroundings, credential: str = "", proxy: str = ""
) -> Endpoint:
    """A new endpoint of the service of a URL.

    Args:
        credential: `cred_name` of the request, '' for the default.
        proxy: path of an X.509 proxy that the request names; '' for the usual one.

    Raises:
        Fault: there is none, or its credentials can't be used.
    """
    if url.is_local:
        return LocalFiles()
    reason = why_unknown(url.scheme)
    if reason:
        raise Fault(FaultKind.NO_WAY, reason)
    if url.scheme in HTTP_SCHEMES:
        from condor_pydagman.placement.endpoints.http_files import HttpFiles

        return HttpFiles(url, surroundings, proxy)
    if url.scheme in FTP_SCHEMES:
        from condor_pydagman.placement.endpoints.ftp_files import FtpFiles

        return FtpFiles(url, surroundings)
    from condor_pydagman.placement.endpoints import fsspec_files

    return fsspec_files.open_endpoint(url, surroundings, credential, proxy)


def load_http(schemes: Collection[str]) -> None:
    """Load what transfers by http need, if these schemes have it: processes that are forked
    afterwards share it."""
    if any(one in HTTP_SCHEMES and not why_unknown(one) for one in schemes):
        import condor_pydagman.placement.endpoints.http_files  # noqa: F401


def _why_no_curl(scheme: str) -> str:
    """Why libcurl can't be used for a scheme, and what to do about it; '' if it can."""
    try:
        import pycurl
    except ImportError as error:  # also one that was built for another libcurl
        return f"{scheme} needs pycurl ({error}): {INSTALL_CURL}"
    version = pycurl.version_info()
    name = PLAIN_SCHEMES.get(scheme, scheme)
    if version[2] < OLDEST_LIBCURL:
        return f"{scheme} needs libcurl 7.71 or newer, and pycurl has {version[1]}: {INSTALL_CURL}"
    if name not in version[8]:
        return f"the libcurl {version[1]} that pycurl uses was built without {name}: {INSTALL_CURL}"
    lacking = [one for one in curl_names.NAMES if not hasattr(pycurl, one)]
    if lacking:
        own = pycurl.version.partition(" ")[0]
        return f"{scheme} needs a newer pycurl than {own}, which lacks {lacking[0]}: {INSTALL_CURL}"
    return ""
