"""What the tests of packages share."""

from __future__ import annotations

from typing import Callable, NoReturn

import pytest


@pytest.fixture(scope="module")
def skip(notices: list[str]) -> Callable[[str, str], NoReturn]:
    """Skips a test, which the end of the test run says as well."""

    def skip_it(what: str, reason: str) -> NoReturn:
        line = f"*** {what}: {reason} ***"
        if line not in notices:
            notices.append(line)
        pytest.skip(reason)

    return skip_it
