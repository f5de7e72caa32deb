"""DATA nodes in groups: staged in, run and staged out at the site that the group is matched to."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.installation import CHECKOUT
from tests.pool.access_point import new_directory
from tests.pool.scenes import Played, Scene, Stage
from tests.pool.sites import Sites

pytestmark = pytest.mark.pool

STAGE = Stage()
EXAMPLE = CHECKOUT / "examples" / "sites"
NAMES = ("north", "south", "west")
# Instead of the example's, which is for sites that are pools: the sites are directories here.
JOB = """\
universe = scheduler
executable = step.sh
arguments = "$(step) $(unit)+$(JOB)"
queue
"""


def three_sites(s: Scene) -> dict[str, Path]:
    """The example's files, its sites, and their areas; one of them fails all jobs."""
    for path in EXAMPLE.glob("*.*"):
        shutil.copy(path, s.work)
    (s.work / "placed.sub").write_text(JOB)
    text = (s.work / "placed.dag").read_text()
    assert 'TARGET.Grid == "example"' in text
    text = text.replace('TARGET.Grid == "example"', f'TARGET.Scene == "{s.work.name}"')
    (s.work / "placed.dag").write_text(text)
    sites = Sites(s)
    areas = {name: new_directory(s.work / "areas" / name) for name in NAMES}
    for name, area in areas.items():
        sites.write(name, 1, f'Door = "file://{area}"\n', area=str(area))
    sites.publish()
    return areas


@STAGE.scene
def three_units_at_three_sites(s: Scene) -> None:
    """One site fails all jobs: its unit is staged in once more, at another site."""
    areas = three_sites(s)
    (areas["west"] / "broken").touch()
    s.submit("CONFIG t.config\nINCLUDE placed.dag\n")
    assert s.ends() == 0
    results = {path.name: path.read_text() for path in (s.work / "results").iterdir()}
    assert sorted(name.partition("-at-")[0] for name in results) == ["unit1", "unit2", "unit3"]
    for name, text in results.items():
        unit, _, site = name.partition("-at-")
        assert text == f"DATA OF UNIT {unit[-1]}\n"
        assert site.partition("-")[0] in ("north", "south")
    assert len({name.partition("-at-")[2] for name in results}) == 2
    said = s.out()
    assert said.count(" is matched to site west-") == 1
    assert said.count(" has to leave site west-") == 1
    staged = s.text("t.dag.nodes.log")
    assert all(f'Destination = "{area}/unit' in staged for area in areas.values())
    assert [path.name for area in areas.values() for path in area.iterdir()] == ["broken"]


@pytest.mark.parametrize("name", STAGE.scenes)
def test_data_at_sites(played: Played, name: str) -> None:
    played.check(name)
