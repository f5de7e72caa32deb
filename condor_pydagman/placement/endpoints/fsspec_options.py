"""Options of fsspec's file systems: credentials, timeouts, and no retries of their own."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from typing import Any

from condor_pydagman.data_requests.urls import Url
from condor_pydagman.placement.endpoints.http_credentials import bearer_token
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
