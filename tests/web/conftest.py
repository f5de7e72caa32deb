"""A browser for the tests of the page; a page fails its test by what stands in its console."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.web import browsers
from tests.web.server import Server, prepare, show
from tests.web.study import Study, example


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One for all tests."""
    if not browsers.needed.args[0]:
        with browsers.browser() as opened:
            yield opened
    else:
        pytest.skip(browsers.needed.kwargs["reason"])


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts servers, and stops them at the end: before `tmp_path`, whose files they show, goes."""
    servers: list[Server] = []
    known: dict[str, Study] = {}
    prepare(monkeypatch, known)

    def start(*dags: Study) -> Server:
        known.update({dag.found.paths.primary: dag for dag in dags})
        servers.append(Server(*dags))
        servers[-1].start()
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Opens pages: `open_page(server, "nodes")` is a view of the server's first DAG.  They are
    closed before `tmp_path`, whose files they show, goes.

    `expected` is what may stand in the console: of a server that is away, or that refuses.
    """
    contexts, problems = [], []

    def open_it(
        server: Server,
        view: str | None = None,
        expected: str = "",
        width: int = 1300,
        **options: Any,
    ) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(browsers.PATIENCE_MS)

        def hear(text: str, kind: str, where: str) -> None:
            if kind in ("error", "warning") and not (expected and expected in text):
                problems.append(f"{text} {where}")

        page.on("console", lambda it: hear(it.text, it.type, it.location["url"]))
        page.on("pageerror", lambda error: hear(f"{error}\n{error.stack}", "error", ""))
        page.on("dialog", lambda dialog: problems.append(f"dialog: {dialog.message}"))
        page.goto(server.access.url)
        page.wait_for_selector(".link-state[data-state=live]")
        if view is not None:
            show(page, server, view)
            page.wait_for_selector("[role=tabpanel]:not([hidden])")
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert not problems


@pytest.fixture
def dag(tmp_path: Path) -> Study:
    """In the middle of its run: 90 nodes."""
    return example(tmp_path / "study")
