"""What tests of several tiers share."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest

from tests.installation import CHECKOUT, Installation


@pytest.fixture(scope="session")
def installation() -> Iterator[Installation]:
    """This checkout as pip installs it.  The pool's user must be able to reach it."""
    directory = CHECKOUT / "var" / f"installation.{os.getpid()}"
    directory.mkdir(parents=True)
    try:
        yield Installation(directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
