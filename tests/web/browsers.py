"""Debian's browser, without a window, for tests of the page.

Chromium of the machine is used if there is one, else that of its Debian archive.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from condor_pydagman.pool import apt
from tests.servers.fetched import BROWSER, environment, fetched

PATIENCE_MS = 60000
_NAMES = ("chromium", "chromium-browser", "google-chrome")


def _here() -> str | None:
    """The machine's own."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


def _lacking() -> str:
    if importlib.util.find_spec("playwright") is None:
        return "pip install playwright"
    return "" if _here() or apt.available() else "there is no chromium, and no apt-get"


needed = pytest.mark.skipif(bool(_lacking()), reason=_lacking())


@contextmanager
def browser() -> Iterator[Any]:
    """A browser that runs."""
    from playwright.sync_api import sync_playwright

    program, variables = _here(), dict(os.environ)
    if program is None:
        prefix = fetched("browser", BROWSER)
        program = str(prefix / "usr/lib/chromium/chromium")
        variables = {**environment(prefix), "FONTCONFIG_PATH": str(prefix / "etc/fonts")}
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox"], env=variables
        )
        try:
            yield opened
        finally:
            opened.close()
