"""What all tests of the page's server use."""

from __future__ import annotations

import pytest

from tests.page_logs import dag_file, logs

pytest.importorskip("aiohttp")

__all__ = ["dag_file", "logs"]
