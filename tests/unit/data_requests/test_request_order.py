"""Which requests of a file wait for others of it."""

from __future__ import annotations

import pytest

from condor_pydagman.data_requests.request_macros import Macros
from condor_pydagman.data_requests.request_order import follows, out_of_order
from condor_pydagman.data_requests.request_text import read_requests
from condor_pydagman.data_requests.requests import Placement


def allocate(host: str = "/s", identity: str = "a") -> str:
    return f"[ dap_type = allocate; dest_host = '{host}'; allocation_id = {identity}; size = 1 ]\n"


def transfer(to: str = "/s/x", identity: str = "a") -> str:
    named = f"allocation_id = {identity};" if identity else ""
    return f"[ dap_type = transfer; src_url = '/from'; dest_url = '{to}'; {named} ]\n"


def release(host: str = "/s", identity: str = "a") -> str:
    return f"[ dap_type = release; dest_host = '{host}'; allocation_id = {identity} ]\n"


def read(*requests: str) -> tuple[Placement, ...]:
    text = "".join(requests).replace("'", '"')
    return read_requests(text, "x", Macros()).placements


@pytest.mark.parametrize(
    "requests, expected",
    [
        ((transfer(), transfer()), {}),
        ((allocate(), transfer(), transfer(), release()), {1: {0}, 2: {0}, 3: {0, 1, 2}}),
        ((allocate(), release(), allocate(), transfer()), {1: {0}, 2: {0, 1}, 3: {0, 1, 2}}),
        ((allocate(), transfer(identity=""), release(identity="b")), {}),
        # of one id at two places; a transfer means that where it writes
        (
            (allocate(), allocate("/t"), transfer("/t/x"), release(), release("/t/")),
            {2: {1}, 3: {0}, 4: {1, 2}},
        ),
        # an id alone means the one allocation that has it
        ((allocate("host"), transfer("/s/x"), release("host")), {1: {0}, 2: {0, 1}}),
        ((transfer(), release()), {1: {0}}),
    ],
)
def test_what_waits(requests: tuple[str, ...], expected: dict[int, set[int]]) -> None:
    assert follows(read(*requests)) == expected


@pytest.mark.parametrize(
    "requests, line, words",
    [
        ((transfer(), allocate()), 1, "is made after this transfer"),
        ((allocate(), release(), transfer()), 3, "is released before this transfer"),
        ((allocate(), transfer(identity=""), release()), 3, "does not wait for the transfers"),
    ],
)
def test_an_order_without_sense(requests: tuple[str, ...], line: int, words: str) -> None:
    ((found, what),) = out_of_order(read(*requests))
    assert found == line
    assert words in what


def test_an_order_with_sense() -> None:
    for requests in (
        (allocate(), transfer(), release()),
        (release(), allocate(), transfer()),
        (allocate(), release()),
        (transfer(),),
    ):
        assert list(out_of_order(read(*requests))) == []
