"""The workflows of `examples/` that run on a pool as they are: what they leave behind."""

from __future__ import annotations

import re

import pytest

from tests.pool.scenes import Scene, Stage

STAGE = Stage()
# Rows and columns of the sky, two by three in place of eight by 22.
SMALLER = {"1..8": "1..2", "1..7": "1..1", "2..8": "2..2", "01..22": "01..03", "01..21": "01..02",
           "02..22": "02..03", "8 22": "2 3"}  # fmt: skip


def submit(s: Scene, name: str, *words: str) -> None:
    """The example's DAG as `t.dag`."""
    s.submit(s.text(name), *words)


def ran(s: Scene) -> list[str]:
    """The nodes whose jobs have run since the last call."""
    found = sorted(s.text("ran").split())
    (s.work / "ran").unlink(missing_ok=True)
    return found


@STAGE.scene
def decisions(s: Scene) -> None:
    s.bring("decisions")
    found = {}
    for name, code in (("choose", 0), ("switch", 0), ("handler", 1)):
        submit(s, f"{name}.dag", "-f")
        assert s.ends() == code
        found[name] = ran(s)
    assert found == {
        "choose": ["measure", "report", "small"],
        "switch": ["choose", "two", "two-more"],
        "handler": ["repair", "tidy", "work"],
    }


@STAGE.scene
def a_search(s: Scene) -> None:
    s.bring("decisions")
    submit(s, "search.dag")
    assert s.ends() == 0, s.out()[-4000:]
    s.says(r"ENOUGH PARENTS best 2: \d of 4 nodes are done")
    s.says("ULOG_JOB_TERMINATED for HTCondor Node best")


@STAGE.scene
def caching(s: Scene) -> None:
    s.bring("caching")
    submit(s, "analysis.dag")
    assert s.ends() == 0
    assert len(ran(s)) == 5
    submit(s, "analysis.dag", "-f")
    assert s.ends() == 0
    assert ran(s) == []
    (s.work / "b.txt").write_text("three\n")
    submit(s, "analysis.dag", "-f")
    assert s.ends() == 0
    assert ran(s) == ["clean_b", "measure_b", "summary"]


@STAGE.scene
def a_feeder(s: Scene) -> None:
    s.bring("feeder")
    submit(s, "feeder.dag")
    assert s.ends() == 0
    assert [s.text(f"sample{n:02}.out") for n in range(1, 13)] == [
        f"sample{n:02}: {111 * n} reads aligned\n" for n in range(1, 13)
    ]


@STAGE.scene
def a_sweep(s: Scene) -> None:
    s.bring("sweep")
    submit(s, "sweep.dag")
    assert s.ends() == 0
    lines = s.text("table.txt").splitlines()
    assert len(lines) == 12
    assert lines[-1] == "energy 50 seed 04 result 200"


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


test_examples = STAGE.tests()
