"""PUBLISH: what nodes publish for conditions; NODE_RESULT: what an earlier run knew of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from condor_pydagman.features.publish.grammar import NodeResult, Publish
from condor_pydagman.graph.apply import IN_THE_SUBMITTED_FILE, Applied
from condor_pydagman.graph.building import STRICT_HIGH, Building
from condor_pydagman.graph.inside import check_inside
from condor_pydagman.graph.model import Dag, FeatureData

_INFORMATION = "job_ad_information_attrs"


_NOTHING = Publish(0, "")


class PublishedOfDag(FeatureData):
    """What nodes publish.

    Attributes:
        results: of an earlier run, the text of a ClassAd.
    """

    by_node = ("published", "results")

    def __init__(self) -> None:
        self.published: dict[int, Publish] = {}
        self.results: dict[int, str] = {}

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
