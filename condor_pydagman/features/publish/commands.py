"""PUBLISH: what nodes publish for conditions; NODE_RESULT: what an earlier run knew of it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from condor_pydagman.features.common import rows
from condor_pydagman.features.common.expression_text import MAX_OF_LINE, Expression
from condor_pydagman.features.common.file_macros import checked_file
from condor_pydagman.features.common.inside import check_inside
from condor_pydagman.graph.apply import IN_THE_SUBMITTED_FILE, Applied
from condor_pydagman.graph.building import STRICT_HIGH, Building
from condor_pydagman.graph.model import Dag, FeatureData
from condor_pydagman.language.lexer import LineError, Words
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import CLASSAD_WORDS, PARENT_ATTRIBUTES

_ATTRIBUTE = re.compile(r"[A-Za-z_][A-Za-z_0-9]{0,99}", re.ASCII)


class _Attributes(rows.Part):
    """Names of attributes of a job, with commas between them."""

    empty = ()

    def read(self, words: Words, key: str = "", also: Collection[str] = ()) -> Any:
        words.peek()
        begin, text = words.column, super().read(words, key)
        names = []
        for found in re.finditer(r"[^,]+", text):
            name = found[0].strip()
            if not _ATTRIBUTE.fullmatch(name):
                hint = "expected names of attributes of the job, with commas between them"
                at = begin + found.start() + len(found[0]) - len(found[0].lstrip())
                message = f"Invalid name of an attribute '{name}'"
                raise LineError(message, words, hint=hint, column=at)
            _refuse_reserved(name, words, begin + found.start())
            names.append(name)
        return tuple(dict.fromkeys(names))

    def write(self, value: tuple[str, ...]) -> str:
        return ",".join(value)


def _refuse_reserved(name: str, words: Words, column: int) -> None:
    """Refuse a name that no job has, or that every parent has anyway."""
    hint = ""
    if name.lower() in CLASSAD_WORDS:
        hint = "it is a word of the ClassAd language, and no job has such an attribute"
    elif name.lower() in (own.lower() for own in PARENT_ATTRIBUTES):
        hint = f"every parent has {', '.join(PARENT_ATTRIBUTES)} anyway"
    if hint:
        raise LineError(f"{name} can't be published", words, hint=hint, column=column)


class _Ad(Expression):
    """A ClassAd."""

    sample = "[ x = 1 ]"

    def checked(self, text: str, words: Words, what: str) -> str:
        if not (text.startswith("[") and text.endswith("]")):
            hint = "expected [ name = value; ... ], as DAGMan writes it into rescue files"
            raise LineError(f"{what} missing its ClassAd", words, hint=hint)
        return super().checked(text, words, what)


_attributes: Any = _Attributes
_ad: Any = _Ad
_FILE = rows.file("name", "<file>", checked_file, sample="values.ad")


@rows.Row(
    "PUBLISH",
    "Values of the node that the RUN_IF of its children can name.",
    after="RUN_IF",
    options="one",
)
class Publish(NamedTuple):
    """PUBLISH: values of the node that conditions can name, of a file or attributes of its job.

    A Dag can have both of a node.
    """

    line: int
    node: str = rows.node()
    file: str = rows.option("FILE", _FILE, "")
    attributes: tuple[str, ...] = rows.option(
        "ATTRIBUTES", _attributes("names", "<name>[,<name>...]", take=rows.text_to_the_end), ()
    )


@rows.Row(
    "NODE_RESULT",
    "What the RUN_IF of other nodes can ask of a node that is done, as in a rescue file.",
    after="SKIPPED",
    in_rescue=True,
)
class NodeResult(NamedTuple):
    """NODE_RESULT: what conditions can ask of a node that is done; `text` is a ClassAd."""

    line: int
    node: str = rows.node()
    text: str = _ad("NODE_RESULT", MAX_OF_LINE, "<ClassAd>")


_INFORMATION = "job_ad_information_attrs"


_NOTHING = Publish(0, "")


class PublishedOfDag(FeatureData):
    """What nodes publish."""

    by_node = ("published", "results")

    def __init__(self) -> None:
        self.published: dict[int, Publish] = {}
        self.results: dict[int, str] = {}  # of an earlier run, the text of a ClassAd

    def node_lines(self, dag: Dag, node: int) -> Iterator[Publish | NodeResult]:
        """As of `FeatureData`."""
        name, published = dag.names[node], self.published.get(node, _NOTHING)
        if published.file:
            yield Publish(0, name, published.file)
        if published.attributes:
            yield Publish(0, name, "", published.attributes)
        if node in self.results:
            yield NodeResult(0, name, self.results[node])

    def description_lines(self, node: int) -> str:
        """Attributes: HTCondor writes them into the nodes log, beside its other events; but not
        into a log that has a mask of events (25.14)."""
        attributes = self.published.get(node, _NOTHING).attributes
        if not attributes:
            return ""
        return (
            f'My.DAGManNodesMask = ""\n{_INFORMATION} = $({_INFORMATION}) {",".join(attributes)}\n'
        )

    def needs_helper(self) -> bool:
        """Not if there is only what an earlier run knew."""
        return bool(self.published)

    def file_names(self, node: int) -> tuple[str, ...]:
        """As of `FeatureData`."""
        file = self.published.get(node, _NOTHING).file
        return (file,) if file else ()

    def must_run(self, node: int) -> str:
        """As of `FeatureData`."""
        return "it has a PUBLISH" if node in self.published else ""


def published_of(dag: Dag) -> Mapping[int, Publish]:
    """What nodes publish, by node."""
    return PublishedOfDag.of(dag).published


def publish(building: Building, command: Publish) -> None:
    """PUBLISH: of a node there may be one line with FILE, and several with ATTRIBUTES."""
    published = PublishedOfDag.put(building.dag).published
    for node in building.nodes(command.node):
        building.refuse_special(node, "PUBLISH")
        old = published.get(node, _NOTHING)
        if command.file and old.file not in ("", command.file):
            building.warn(
                f"Warning: new PUBLISH FILE {command.file} of node {building.shown(node)}"
                f" overrides {old.file}",
                STRICT_HIGH,
            )
        attributes = tuple(dict.fromkeys((*old.attributes, *command.attributes)))
        published[node] = building.share(Publish(0, "", command.file or old.file, attributes))


def node_result(building: Building, command: NodeResult) -> None:
    """NODE_RESULT, of rescue files."""
    node = building.needed(command.node)
    PublishedOfDag.put(building.dag).results[node] = command.text


def _of_job(command: Publish) -> Publish:
    check_inside(command.file)
    return command


APPLIED = (
    Applied(Publish, publish, of_new="PUBLISH", of_job=_of_job),
    Applied(NodeResult, node_result, refused=IN_THE_SUBMITTED_FILE),
)
