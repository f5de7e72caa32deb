"""Shapes have the size asked for, the form that their papers show, and are always the same."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.workflows.shapes import SHAPES, SMALLEST, Workflow, kind, make


def kinds(workflow: Workflow) -> Counter[str]:
    return Counter(kind(node) for node in workflow.nodes)


def links(workflow: Workflow) -> set[tuple[str, str]]:
    return {(kind(parent), kind(child)) for parent, child in workflow.edges}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", [SMALLEST, 33, 60, 170, 500, 2000])
def test_size_is_about_what_was_asked_for(shape: str, size: int) -> None:
    assert abs(len(make(shape, size).nodes) - size) <= size / 10


@pytest.mark.parametrize("shape", SHAPES)
def test_parents_come_first_and_nothing_is_named_twice(shape: str) -> None:
    workflow = make(shape, 200)
    places = {node: place for place, node in enumerate(workflow.nodes)}
    assert len(places) == len(workflow.nodes)
    assert len(set(workflow.edges)) == len(workflow.edges)
    assert all(places[parent] < places[child] for parent, child in workflow.edges)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_node_is_tied_to_others(shape: str) -> None:
    workflow = make(shape, 200)
    assert {node for edge in workflow.edges for node in edge} == set(workflow.nodes)


@pytest.mark.parametrize("shape", SHAPES)
def test_same_seed_same_workflow(shape: str) -> None:
    assert make(shape, 150, seed=4) == make(shape, 150, seed=4)


@pytest.mark.parametrize("shape", ["montage", "epigenomics", "1000genome", "cybershake"])
def test_another_seed_gives_another_workflow(shape: str) -> None:
    assert make(shape, 150, seed=4) != make(shape, 150, seed=5)


def test_montage_compares_two_images_and_corrects_each() -> None:
    workflow = make("montage", 300)
    count = kinds(workflow)
    assert count["mProjectPP"] == count["mBackground"]
    parents = Counter(child for _, child in workflow.edges)
    assert {parents[n] for n in workflow.nodes if kind(n) == "mDiffFit"} == {2}
    assert {parents[n] for n in workflow.nodes if kind(n) == "mBackground"} == {2}
    assert ("mJPEG", 1) in count.items()


def test_cybershake_has_a_peak_value_for_each_seismogram() -> None:
    count = kinds(make("cybershake", 300))
    assert count["SeismogramSynthesis"] == count["PeakValCalcOkaya"]
    assert count["ZipSeis"] == count["ZipPSA"] == 1


def test_links_of_the_pipelines() -> None:
    assert ("mapMerge", "mapMerge") in links(make("epigenomics", 200))
    assert ("Thinca", "TrigBank") in links(make("inspiral", 200))
    assert ("Patser_concate", "SRNA_Annotate") in links(make("sipht", 200))
    assert ("sifting", "frequency") in links(make("1000genome", 200))
    assert links(make("seismology", 50)) == {("sG1IterDecon", "siftSTFByMisfit")}
    assert ("split_fasta", "blastall") in links(make("blast", 50))


def test_no_such_shape() -> None:
    with pytest.raises(ValueError, match="no shape 'circle'; there are montage, "):
        make("circle", 100)


def test_too_small() -> None:
    with pytest.raises(ValueError, match="3 nodes are too few"):
        make("blast", 3)
