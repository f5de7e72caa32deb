"""Debian's browser, without a window, for tests of the page.

Chromium without all that a window needs takes half the CPU time.  The machine's own is used, else
that of its Debian archive, else a Chromium with windows.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from condor_pydagman.errors import PoolError
from condor_pydagman.pool import apt
from tests.servers.fetched import BROWSER, environment, fetched
from tests.waiting import LIMIT_S

PATIENCE_MS = 1000 * LIMIT_S
_SHELL = "chromium-headless-shell"
_NAMES = ("chromium", "chromium-browser", "google-chrome")


def _here() -> str | None:
    """One with windows that is installed."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


def _lacking() -> str:
    if importlib.util.find_spec("playwright") is None:
        return "pip install playwright"
    return "" if _here() or apt.available() else "there is no chromium, and no apt-get"


def _program() -> tuple[str, dict[str, str]]:
    """The browser, and its environment."""
    shell, other = shutil.which(_SHELL), _here()
    if shell:
        return shell, dict(os.environ)
    try:
        prefix = fetched("browser", BROWSER)
    except PoolError:
        if other is None:
            raise
        return other, dict(os.environ)
    variables = {**environment(prefix), "FONTCONFIG_PATH": str(prefix / "etc/fonts")}
    return str(prefix / "usr/lib/chromium" / _SHELL), variables


needed = pytest.mark.skipif(bool(_lacking()), reason=_lacking())


@contextmanager
def browser() -> Iterator[Any]:
    """A browser that runs."""
    from playwright.sync_api import sync_playwright

    program, variables = _program()
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox"], env=variables, timeout=PATIENCE_MS
        )
        try:
            yield opened
        finally:
            opened.close()
