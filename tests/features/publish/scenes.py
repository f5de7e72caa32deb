"""What nodes publish, in scenes: files, and attributes of their jobs."""

from __future__ import annotations

from collections.abc import Iterable

from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.features.publish.run import ReadResult, ResultRead
from condor_pydagman.vocabulary import EventKind
from tests.scenes.phrases import Told, phrase
from tests.scenes.stage import Stage, answers
from tests.scenes.words import Words, in_words


class Files(dict[str, str]):
    """By name what is in them, a value a line."""


@phrase("file <name> has <text>")
def _file(stage: Stage, name: str, text: str) -> None:
    """Values, such as `n=5 s="x"`; `200 values` are as many, of 400 characters each."""
    count = int(text.split()[0]) if text.endswith(" values") else 0
    many = " ".join(f'n{number}="{"x" * 400}"' for number in range(count))
    stage.part(Files)[name] = many or text


@answers(ReadResult)
def _read(stage: Stage, request: ReadResult) -> Iterable[ResultRead]:
    text = stage.part(Files).get(request.file)
    if text is None:
        yield ResultRead(request.node, request.retry, error="No such file or directory")
    else:
        pairs = [tuple(one.split("=")) for one in text.split()]
        yield ResultRead(request.node, request.retry, pairs)


@in_words(ReadResult)
def _read_in_words(words: Words, request: ReadResult) -> str:
    return f"read {request.file} of {words.name(request.node)}"


@phrase("attributes of <job>( while it runs)?: <text>")
def _attributes(stage: Stage, name: str, runs: str, text: str) -> Told:
    """The event 028 that HTCondor writes beside the others."""
    trigger = EventKind.EXECUTE if runs else EventKind.JOB_TERMINATED
    lines = text.replace(" ", "\n")
    for cluster, proc in stage.jobs.named(name):
        yield LogEvent(
            EventKind.JOB_AD_INFORMATION, cluster, proc, 0, value=int(trigger), text=lines
        )
