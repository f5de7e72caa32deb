"""From an input that breaks a rule to a small one that breaks the same rule."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from condor_pydagman.graph.build import BuildOptions
from tests.fuzz.sample import Sample

SECONDS = 20  # for one input
_PLAIN = ("a", "b", "JOB A a")


def shrink(sample: Sample, breaks: Callable[[Sample], bool]) -> Sample:
    """The smallest sample found within SECONDS for which `breaks` still is true."""
    end = time.monotonic() + SECONDS
    progress = True
    while progress and time.monotonic() < end:
        progress = False
        for smaller in _smaller(sample):
            if time.monotonic() > end:
                break
            if breaks(smaller):
                sample, progress = smaller, True
                break
    return sample


def _smaller(sample: Sample) -> Iterator[Sample]:
    """Samples a bit simpler, the boldest changes first."""
    for path in list(sample.files):
        rest = {name: text for name, text in sample.files.items() if name != path}
        if rest and path not in sample.dags:
            yield sample._replace(files=rest)
    for place in range(len(sample.dags) - 1):
        yield sample._replace(dags=sample.dags[:place] + sample.dags[place + 1 :])
    if sample.progress:
        yield sample._replace(progress="")
    usual = BuildOptions()
    if sample.options != usual:
        yield sample._replace(options=usual)
        for name in BuildOptions._fields:
            if getattr(sample.options, name) != getattr(usual, name):
                options = sample.options._replace(**{name: getattr(usual, name)})
                yield sample._replace(options=options)
    if sample.block:
        yield sample._replace(block=0)
    for separator in ("\n", " ", ""):
        for path, text in sample.files.items():
            for shorter in _shorter(text, separator):
                yield sample._replace(files={**sample.files, path: shorter})
        for shorter in _shorter(sample.progress, separator):
            yield sample._replace(progress=shorter)


def _shorter(text: str, separator: str) -> Iterator[str]:
    parts: Sequence[str] = text.split(separator) if separator else text
    size = len(parts) // 2
    while size:
        for begin in range(0, len(parts), size):
            yield separator.join([*parts[:begin], *parts[begin + size :]])
        size //= 2
