"""Small changes to samples: what editors, disks and programs do to a text, and worse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from random import Random

from tests.fuzz.sample import Sample, as_read, random_options

_ODD = ("\x0b", "\x0c", "\x1b[31m", "\x85", "\u00a0", "\u2028", "\ufeff", "\u202e", "\U0001f600",
    "\udcff", "\udc80", "\0", '"', "'", "\\", "\\\n", "\r", "\n", "\t", "+", "%", "=", "{", "}",
    "@=", "#", "//", "ALL_NODES", " CHILD ", "-", "\u0661", "\x7f", "x" * 1200)  # fmt: skip

Mutation = Callable[[Random, str, str], str]


def _flip_byte(random: Random, text: str, other: str) -> str:
    data = bytearray(text.encode("utf-8", "surrogateescape"))
    for _ in range(random.choice((1, 1, 3, 20)) if data else 0):
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    return data.decode("utf-8", "surrogateescape")


def _insert_odd(random: Random, text: str, other: str) -> str:
    place = random.randrange(len(text) + 1)
    return text[:place] + random.choice(_ODD) + text[place:]


def _delete(random: Random, text: str, other: str) -> str:
    begin = random.randrange(len(text) + 1)
    return text[:begin] + text[begin + random.choice((1, 1, 2, 10, 100)) :]


def _truncate(random: Random, text: str, other: str) -> str:
    return text[: random.randrange(len(text) + 1)]


def _shuffle_lines(random: Random, text: str, other: str) -> str:
    lines = text.split("\n")
    random.shuffle(lines)
    return "\n".join(lines)


def _swap(separator: str, random: Random, text: str, other: str) -> str:
    parts = text.split(separator)
    one, two = random.randrange(len(parts)), random.randrange(len(parts))
    parts[one], parts[two] = parts[two], parts[one]
    return separator.join(parts)


_swap_lines, _swap_words = partial(_swap, "\n"), partial(_swap, " ")


def _repeat_line(random: Random, text: str, other: str) -> str:
    lines = text.split("\n")
    line = random.choice(lines)
    for _ in range(random.choice((1, 1, 2, 3, 16))):
        lines.insert(random.randrange(len(lines) + 1), line)
    return "\n".join(lines)


def _drop_line(random: Random, text: str, other: str) -> str:
    lines = text.split("\n")
    del lines[random.randrange(len(lines))]
    return "\n".join(lines)


def _word_of_other(random: Random, text: str, other: str) -> str:
    words = text.split(" ")
    words[random.randrange(len(words))] = random.choice(other.split() or [""])
    return " ".join(words)


def _lines_of_other(random: Random, text: str, other: str) -> str:
    lines, more = text.split("\n"), other.split("\n")
    begin = random.randrange(len(more))
    place = random.randrange(len(lines) + 1)
    lines[place:place] = more[begin : begin + random.choice((1, 2, 5, 16))]
    return "\n".join(lines)


def _end_of_other(random: Random, text: str, other: str) -> str:
    return text[: random.randrange(len(text) + 1)] + other[random.randrange(len(other) + 1) :]


def _other_case(random: Random, text: str, other: str) -> str:
    return random.choice((text.lower(), text.upper(), text.swapcase()))


def _line_ends(random: Random, text: str, other: str) -> str:
    return text.replace("\n", random.choice(("\r\n", "\r", "\n\n", "\\\n", " \\\n#\n")))


def _long_word(random: Random, text: str, other: str) -> str:
    words = text.split(" ")
    place = random.randrange(len(words))
    words[place] = words[place] * random.choice((2, 10, 100))
    return " ".join(words)[:20_000]


_MUTATIONS: tuple[Mutation, ...] = (
    _flip_byte, _insert_odd, _insert_odd, _delete, _truncate, _shuffle_lines, _swap_lines,
    _repeat_line, _drop_line, _swap_words, _swap_words, _word_of_other, _word_of_other,
    _lines_of_other, _lines_of_other, _end_of_other, _other_case, _line_ends, _long_word,
)  # fmt: skip


def mutate(random: Random, sample: Sample, others: Sequence[Sample]) -> Sample:
    """`sample` with one to five changes; pieces of `others` are put into it."""
    files = dict(sample.files)
    for _ in range(random.choice((1, 1, 1, 2, 3, 5))):
        path = random.choice(list(files))
        other = random.choice(list(random.choice(others).files.values()))
        files[path] = as_read(random.choice(_MUTATIONS)(random, files[path], other))
    progress = sample.progress
    if random.random() < 0.15:
        progress = random.choice(list(random.choice(others).files.values()))
    block, shortest = random.choice((0, 0, 1, 40, 200)), random.choice((1, 2, 2, 5, 16))
    return Sample(files, sample.dags, random_options(random), progress, block, shortest)
