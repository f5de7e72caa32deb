"""The same rules under a coverage-guided fuzzer; needs `pip install atheris` (no test needs it).

    python -m tests.fuzz.coverage_guided [--seeds DIRECTORY] [libFuzzer's options] [DIRECTORY]

An input is the text of a case of tests/corpus: x.dag, then `#== NAME` and the text of another file,
and so on.  `--seeds DIRECTORY` writes the corpus there as inputs to begin with.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.fuzz.sample import Sample

MARK = "#== "


def sample_of(data: bytes) -> Sample:
    """The sample that an input stands for: its first byte chooses the options."""
    from tests.fuzz.sample import Sample, random_options

    text = data[1:].decode("utf-8", "surrogateescape")
    files: dict[str, str] = {}
    for part in f"{MARK}x.dag\n{text}".split(MARK)[1:]:
        name, _, content = part.partition("\n")
        files.setdefault(name if name.isprintable() and name else "b.dag", content)
    progress = files.pop("rescue", "")
    random = Random(data[0] if data else 0)
    block, shortest = random.choice((0, 1, 200)), random.choice((1, 2, 16))
    return Sample(files, ("x.dag",), random_options(random), progress, block, shortest)


def input_of(sample: Sample) -> bytes:
    """An input for a sample, whose options are lost."""
    main, *others = sample.files.items()
    text = main[1] + "".join(f"{MARK}{name}\n{content}" for name, content in others)
    return b"\0" + text.encode("utf-8", "surrogateescape")


def main() -> None:
    """Fuzz until a rule is broken, or as libFuzzer's options say."""
    import atheris  # type: ignore[import-not-found, import-untyped, unused-ignore]

    with atheris.instrument_imports(include=["condor_pydagman"]):
        from tests.fuzz import rules
        from tests.fuzz.sample import real_samples

    arguments = sys.argv[:]
    if "--seeds" in arguments:
        place = arguments.index("--seeds")
        directory = Path(arguments[place + 1])
        del arguments[place : place + 2]
        directory.mkdir(exist_ok=True)
        for number, sample in enumerate(real_samples()):
            (directory / f"seed{number:04d}").write_bytes(input_of(sample))
        arguments.append(str(directory))

    def test_one(data: bytes) -> None:
        rules.check(sample_of(data))

    atheris.Setup(arguments, test_one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
