"""A child process that never answers."""

from __future__ import annotations

import time


def main(words: list[str]) -> int:
    time.sleep(600)
    return 0
