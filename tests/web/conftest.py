"""A browser for the tests of the page; a page fails its test by what stands in its console."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.web import browsers
from tests.web.fake_dag import FakeDag
from tests.web.fake_server import FakeServer, example


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One for all tests."""
    if not browsers.needed.args[0]:
        with browsers.browser() as opened:
            yield opened
    else:
        pytest.skip(browsers.needed.kwargs["reason"])


@pytest.fixture
def serve() -> Iterator[Callable[..., FakeServer]]:
    """Starts servers, and stops them at the end."""
    servers: list[FakeServer] = []

    def start(*dags: FakeDag) -> FakeServer:
        servers.append(FakeServer(*dags))
        servers[-1].start()
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens pages: `open_page(server, "/study/nodes")`.

    `expected` is what may stand in the console: of a server that is away, or that refuses.
    """
    contexts, problems = [], []

    def open_it(
        server: FakeServer, address: str = "", expected: str = "", width: int = 1300, **options: Any
    ) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(browsers.PATIENCE_MS)

        def hear(text: str, kind: str) -> None:
            if kind in ("error", "warning") and not (expected and expected in text):
                problems.append(text)

        page.on("console", lambda message: hear(message.text, message.type))
        page.on("pageerror", lambda error: hear(f"{error}\n{error.stack}", "error"))
        page.on("dialog", lambda dialog: problems.append(f"dialog: {dialog.message}"))
        page.goto(server.url)
        page.wait_for_selector(".link-state[data-state=live]")
        if address:
            page.evaluate("address => { location.hash = address }", f"#{address}")
            page.wait_for_selector("[role=tabpanel]:not([hidden])")
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert not problems


@pytest.fixture
def dag() -> FakeDag:
    """In the middle of its run: 90 nodes."""
    return example()
