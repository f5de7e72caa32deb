"""The server of an object store, whose URLs name only a bucket: from the environment, or from the
file of AWS profiles, in the order in which its client looks.
"""

from __future__ import annotations

import configparser
import os.path
import re
from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import urlsplit

from condor_pydagman.data_requests.urls import Url

_GOOGLE = "storage.googleapis.com"
_URL = re.compile(r"^\s*endpoint_url\s*=\s*(\S+)", re.MULTILINE)


def store_of(url: Url, environment: Mapping[str, str], credential: str = "") -> str:
    """`host` or `host:port` of the store that a bucket is in; '' if the URL's host is the server.

    Args:
        environment: of the worker.
        credential: name of a profile; '' for the default.
    """
    if url.scheme in ("gs", "gcs"):
        return _GOOGLE
    if url.scheme not in ("s3", "s3a"):
        return ""
    found = environment.get("AWS_ENDPOINT_URL_S3") or environment.get("AWS_ENDPOINT_URL")
    if not found:
        home = environment.get("HOME") or "~"
        path = environment.get("AWS_CONFIG_FILE") or f"{home}/.aws/config"
        profile = credential or environment.get("AWS_PROFILE") or "default"
        found = _of_profile(os.path.expanduser(path), profile)
    if not found:
        region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
        return f"s3.{region}.amazonaws.com" if region else "s3.amazonaws.com"
    parts = urlsplit(found if "://" in found else f"//{found}")
    server = parts.netloc.rpartition("@")[2]
    usual = {"http": ":80", "https": ":443"}.get(parts.scheme)
    return server.removesuffix(usual) if usual else server


@lru_cache(64)
def _of_profile(path: str, profile: str) -> str:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read(path)
    except (OSError, ValueError, configparser.Error):
        return ""
    name = profile if profile == "default" else f"profile {profile}"
    if not parser.has_section(name):
        return ""
    services = f"services {parser.get(name, 'services', fallback='')}"
    of_s3 = _URL.search(parser.get(services, "s3", fallback=""))
    return of_s3[1] if of_s3 else parser.get(name, "endpoint_url", fallback="")
