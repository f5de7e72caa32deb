"""Proxies, by the variables that curl(1) knows; libcurl speaks to them, whatever their kind.

Which servers need none is decided here: a libcurl before 7.86 knows no networks in `no_proxy`, and
what may be connected to depends on it.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import pycurl

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.urls import Url, parse_url
from condor_pydagman.placement.endpoints.libcurl import authorities, idna

_KINDS = ("http", "https", "socks4", "socks4a", "socks5", "socks5h")
_USER_SAFE = "%:!$&'()*+,;=~"  # what is encoded already is left as it is
_PORTS = {"http": 80, "https": 443, "ftp": 21}
_VERSION_HTTPS_PROXY = 1 << 21


def proxy_options(url: Url, scheme: str, environment: Mapping[str, str]) -> dict[int, Any]:
    """Options of libcurl for the proxy to a server; none if it is reached directly.

    Args:
        scheme: of the protocol: http, https, ftp.

    Raises:
        Fault: the variable names no proxy, or one that this libcurl can't use.
    """
    # A web server tells its programs a header of the client as HTTP_PROXY: not to be believed.
    own = ("http_proxy",) if scheme == "http" else (f"{scheme}_proxy", f"{scheme}_proxy".upper())
    names = (*own, "all_proxy", "ALL_PROXY")
    name = next((one for one in names if environment.get(one)), "")
    bypass = environment.get("no_proxy") or environment.get("NO_PROXY", "")
    port = url.port or _PORTS[scheme]
    if not name or is_bypassed(url.host, port, bypass):
        return {}
    proxy = _address_of(name, environment[name].strip())
    kind = _kind_of(name, proxy)
    options: dict[int, Any] = {pycurl.PROXY: proxy}
    if kind == "https":
        options |= {
            getattr(pycurl, f"PROXY_{what}"): path
            for what, path in authorities(environment).items()
        }
    if scheme == "ftp":
        options[pycurl.HTTPPROXYTUNNEL] = 1
    return options


def _address_of(name: str, text: str) -> str:
    """The proxy with a scheme, without which no password in it would be masked; and with a user
    that ends for libcurl where it ends for us.

    Raises:
        Fault: it has blanks or control characters.
    """
    if any(c.isspace() or not c.isprintable() for c in text):
        raise Fault(FaultKind.REQUEST, f"{name} is no URL: it has a blank or a control character")
    scheme, _, rest = (text if "://" in text else f"http://{text}").partition("://")
    authority, slash, path = rest.partition("/")
    user, at, server = authority.rpartition("@")
    return f"{scheme}://{quote(user, safe=_USER_SAFE)}{at}{server}{slash}{path}"


def _kind_of(name: str, text: str) -> str:
    try:
        kind = parse_url(text).scheme
    except ValueError as error:
        raise Fault(FaultKind.REQUEST, f"{name} is no URL: {error}") from None
    if kind not in _KINDS:
        known = ", ".join(_KINDS)
        reason = f"{name} names a proxy of the kind {kind}; known are {known}"
        raise Fault(FaultKind.REQUEST, reason)
    if kind == "https" and not pycurl.version_info()[4] & _VERSION_HTTPS_PROXY:
        reason = f"{name} names a proxy that is reached by https, which this libcurl can't"
        raise Fault(FaultKind.REQUEST, f"{reason}: {pycurl.version}")
    return kind


def is_bypassed(host: str, port: int, bypass: str) -> bool:
    """Whether a server is one of `no_proxy`: names, ends of names, addresses, networks (CIDR), each
    perhaps with a port; or `*` alone, which is all."""
    if bypass.strip() == "*":
        return True
    host = idna(host)
    return any(_is_meant(host, port, word) for word in bypass.lower().replace(",", " ").split())


def _is_meant(host: str, port: int, word: str) -> bool:
    name, _, number = word.rpartition(":")
    if name and number.isdigit() and (":" not in name or name.endswith("]")):
        return int(number) == port and _is_meant(host, port, name)
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        name = idna(word.lstrip("."))
        return bool(name) and f".{host.lower()}".endswith(f".{name}")
    try:
        return address in ipaddress.ip_network(word.strip("[]"), strict=False)
    except ValueError:
        return False
