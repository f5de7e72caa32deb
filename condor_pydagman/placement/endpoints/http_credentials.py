"""Credentials for http servers: bearer tokens and X.509 proxies, where grid tools look for them.

Source: WLCG Bearer Token Discovery 1.0; manual, "Jobs That Require Credentials".
"""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.urls import Url

MAX_TOKEN_BYTES = 65536


def authorization(url: Url, environment: Mapping[str, str]) -> str:
    """Value of the header Authorization; '' for none.

    A token goes to servers that are reached encrypted, and to no others: a port of this machine may
    be another user's.
    """
    if url.user:
        return basic(url)
    if url.scheme not in ("https", "davs"):
        return ""
    token = bearer_token(environment)
    return f"Bearer {token}" if token else ""


def basic(url: Url) -> str:
    """The header for the user and password of a URL."""
    pair = f"{url.user}:{url.password}".encode("utf-8", "surrogateescape")
    return "Basic " + base64.b64encode(pair).decode()


def bearer_token(environment: Mapping[str, str]) -> str:
    """The user's token; '' if there is none."""
    if environment.get("BEARER_TOKEN"):
        return environment["BEARER_TOKEN"].strip()
    named = environment.get("BEARER_TOKEN_FILE", "")
    if named:
        token = _read(named)
        if not token:
            raise Fault(FaultKind.DENIED, f"BEARER_TOKEN_FILE names {named}, which can't be read")
        return token
    uid = os.geteuid()
    run = environment.get("XDG_RUNTIME_DIR", "")
    for path in ([f"{run}/bt_u{uid}"] if run else []) + [f"/tmp/bt_u{uid}"]:  # noqa: S108
        token = _read(path)
        if token:
            return token
    return _of_condor(environment.get("_CONDOR_CREDS", ""))


def proxy_file(environment: Mapping[str, str], proxy: str) -> str:
    """Path of the X.509 proxy; '' if there is none.

    Args:
        proxy: path that the request names; "default" or '' for the usual one.

    Raises:
        Fault: the usual one is named, and is not there.
    """
    if proxy and proxy != "default":
        return proxy
    path = environment.get("X509_USER_PROXY", "")
    usual = f"/tmp/x509up_u{os.geteuid()}"  # noqa: S108  # where all grid tools look
    if not path and _is_own(usual):
        path = usual
    if proxy and not path:
        raise Fault(
            FaultKind.DENIED, f"there is no X.509 proxy: neither X509_USER_PROXY nor {usual}"
        )
    return path


def _of_condor(directory: str) -> str:
    """A token of HTCondor's credential directory: the first by name."""
    try:
        names = sorted(os.listdir(directory)) if directory else []
    except OSError:
        return ""
    tokens = (_read(os.path.join(directory, name)) for name in names if name.endswith(".use"))
    return next(filter(None, tokens), "")


def _read(path: str) -> str:
    if not _is_own(path):
        return ""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(MAX_TOKEN_BYTES).strip()
    except OSError:
        return ""
    if text.startswith("{"):  # an OAuth answer, as credmons store it
        import json

        try:
            text = str(json.loads(text).get("access_token", ""))
        except (ValueError, AttributeError):
            return ""
    return text


def _is_own(path: str) -> bool:
    """Whether it is an ordinary file of the user's: /tmp is everybody's, and a link that somebody
    else has made may lead to any of the user's files."""
    try:
        owners = {os.lstat(path).st_uid, os.stat(path).st_uid}
    except OSError:
        return False
    return owners <= {os.geteuid(), 0} and os.path.isfile(path)
