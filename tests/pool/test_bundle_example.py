"""The example of a workflow of short tasks, smaller: the same results with bundles as without."""

from __future__ import annotations

import re

import pytest

from tests.pool.scenes import Scene, Stage

STAGE = Stage()
# Rows and columns of the sky, two by three in place of eight by 22.
SMALLER = {"1..8": "1..2", "1..7": "1..1", "2..8": "2..2", "01..22": "01..03", "01..21": "01..02",
           "02..22": "02..03", "8 22": "2 3"}  # fmt: skip


@STAGE.scene
def bundles_make_the_same_picture(s: Scene) -> None:
    s.bring("montage")
    whole = s.run("condor_pydagman", "flatten", "montage.dag")
    assert len(re.findall("^JOB ", whole, re.M)) == 1000
    dag = re.sub("|".join(SMALLER), lambda found: SMALLER[found[0]], s.text("montage.dag"))
    s.submit(dag)
    assert s.ends() == 0
    alone = picture(s)
    (s.work / "mosaic.pgm").unlink()
    s.submit(f"BUNDLE b SIZE 4 ALL_NODES\n{dag}", "-f")
    assert s.ends() == 0
    s.says("Submitting bundle 1 of 4 nodes")
    assert picture(s) == alone
    levels = dict(line.split() for line in s.text("model.txt").splitlines())
    for file in s.work.glob("fit_*.txt"):
        first, second, brighter = file.read_text().split()
        assert float(levels[first]) - float(levels[second]) == pytest.approx(float(brighter), abs=1)


def picture(s: Scene) -> str:
    """The mosaic, which has a number for each pixel."""
    text = s.text("mosaic.pgm")
    kind, wide, high, brightest, *pixels = text.split()
    assert (kind, brightest, len(pixels)) == ("P2", "255", int(wide) * int(high))
    return text


test_bundle_example = STAGE.tests()
