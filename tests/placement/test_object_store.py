"""Which server a bucket is at."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.data_requests.urls import parse_url
from condor_pydagman.placement.object_store import store_of

BUCKET = parse_url("s3://bucket/a")
CONFIG = """
[default]
endpoint_url = https://default.example
[profile lab]
endpoint_url = https://lab.example
services = of_lab
[services of_lab]
s3 =
  endpoint_url = http://store.lab.example:9000
[profile plain]
region = x
"""


@pytest.mark.parametrize(
    "environment, server",
    [
        ({"AWS_ENDPOINT_URL": "https://h:443/x"}, "h"),
        ({"AWS_ENDPOINT_URL": "http://g", "AWS_ENDPOINT_URL_S3": "http://h:9000"}, "h:9000"),
        ({"AWS_REGION": "eu-west-1"}, "s3.eu-west-1.amazonaws.com"),
        ({}, "s3.amazonaws.com"),
    ],
)
def test_of_the_environment(environment: dict[str, str], server: str, tmp_path: Path) -> None:
    assert store_of(BUCKET, {"HOME": str(tmp_path), **environment}) == server


@pytest.mark.parametrize(
    "profile, server",
    [
        ("", "default.example"),
        ("lab", "store.lab.example:9000"),
        ("plain", "s3.amazonaws.com"),
        ("none", "s3.amazonaws.com"),
    ],
)
def test_of_a_profile(profile: str, server: str, tmp_path: Path) -> None:
    (tmp_path / "config").write_text(CONFIG)
    assert store_of(BUCKET, {"AWS_CONFIG_FILE": str(tmp_path / "config")}, profile) == server


def test_others() -> None:
    assert store_of(parse_url("gs://bucket/a"), {}) == "storage.googleapis.com"
    assert store_of(parse_url("https://h/a"), {"AWS_ENDPOINT_URL": "http://g"}) == ""


def test_a_damaged_file_is_as_none(tmp_path: Path) -> None:
    (tmp_path / "config").write_bytes(b"\xff no section")
    environment = {"AWS_CONFIG_FILE": str(tmp_path / "config")}
    assert store_of(BUCKET, environment) == "s3.amazonaws.com"
