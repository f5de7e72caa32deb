"""The file in which DAGMan tells a worker what to do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.data_requests.work_order import (
    Ended,
    WorkOrder,
    file_stem,
    parse_work_order,
    passed_on,
)

ORDER = WorkOrder(
    "token", "in", 2, "in.dap", 'src_url = "x\udcff"\n', {"a": "1"}, "/d", "/d/x.nodes.log",
    {"HOME": "/h"}, Settings(limits=(("h", 2),), capacities=(("/scratch", 5),), plugins=("/p",)),
    {"in": 3.5},
)  # fmt: skip


def test_an_order_is_read_back() -> None:
    assert parse_work_order(ORDER.to_text()) == ORDER


def test_an_order_that_was_carried_out_has_no_secrets() -> None:
    assert parse_work_order(Ended(12).to_text()) == Ended(12)
    assert "src_url" not in Ended(12).to_text()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"version": 1}', '{"version": 2}', ORDER.to_text()[:100], "3"]
)
def test_damaged_orders(text: str) -> None:
    with pytest.raises(ValueError):  # json's messages are many
        parse_work_order(text)


@given(st.lists(st.text(min_size=1), unique=True, min_size=2))
def test_no_two_nodes_share_files(names: list[str]) -> None:
    stems = [file_stem(name) for name in names]
    assert len(set(stems)) == len(names)
    for stem in stems:
        assert "/" not in stem
        assert not stem.startswith(".")
        assert len(stem.encode()) < 200


def test_what_a_worker_finds_servers_with_is_passed_on() -> None:
    proxies = ("all_proxy", "ALL_PROXY", "ftp_proxy", "FTP_PROXY", "https_proxy", "no_proxy")
    names = {*proxies, "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR", "X509_CERT_DIR"}
    assert set(passed_on(dict.fromkeys(names, "x"))) == names


def test_credentials_of_the_environment_are_passed_on() -> None:
    environment = {"AWS_SECRET_ACCESS_KEY": "k", "BEARER_TOKEN_FILE": "f", "EDITOR": "vi"}
    assert set(passed_on(environment)) == {"AWS_SECRET_ACCESS_KEY", "BEARER_TOKEN_FILE"}
