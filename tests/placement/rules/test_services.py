"""Which URLs are of one service."""

from __future__ import annotations

import pytest

from condor_pydagman.data_requests.urls import parse_url
from condor_pydagman.placement.rules.services import Service, service_label, service_of


@pytest.mark.parametrize(
    "one, other",
    [
        ("http://h/a", "http://H:80/b"),
        ("http://h/a", "dav://h/a"),
        ("https://h:443/a", "davs://h/a"),
        ("root://h:1094//a", "xroot://h//a"),
    ],
)
def test_one_service(one: str, other: str) -> None:
    assert label(one) == label(other)


@pytest.mark.parametrize("other", ["ftp://h/a", "https://h/a", "http://h:8080/a", "http://g/a"])
def test_another_service(other: str) -> None:
    assert label("http://h/a") != label(other)


def test_all_buckets_of_a_store_are_one_service() -> None:
    store = "minio.example.org:9000"
    services = [service_of(parse_url(f"s3://{bucket}/a"), store) for bucket in ("one", "two")]
    assert {service.server for service in services} == {store}
    assert services[0].names == (store, "minio.example.org", "one", "s3")
    assert str(services[1]) == "s3://minio.example.org:9000"


def test_names_in_limits() -> None:
    assert service_of(parse_url("http://h/a")).names[:2] == ("h:80", "h")
    assert service_of(parse_url("http://h:81/a")).names[:2] == ("h:81", "h")
    assert service_of(parse_url("http://[::1]:81/a")).names[:2] == ("[::1]:81", "[::1]")
    assert Service("gsiftp", "h").names == ("h",)


def label(url: str) -> str:
    service = service_of(parse_url(url))
    return service.server + service_label("0" * 16, service.scheme)
