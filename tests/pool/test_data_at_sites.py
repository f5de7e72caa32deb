"""DATA nodes in groups: staged in, run and staged out at the site that the group is matched to."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.installation import CHECKOUT
from tests.pool.access_point import new_directory
from tests.pool.scenes import Scene, Stage
from tests.pool.sites import Sites

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
    subprocess.run(["sh", "many.sh"], cwd=s.work, check=True)
    (s.work / "placed.sub").write_text(JOB)
    for name in ("placed.dag", "many.dag"):
        text = s.text(name)
        assert 'TARGET.Grid == "example"' in text
        text = text.replace('TARGET.Grid == "example"', f'TARGET.Scene == "{s.work.name}"')
        (s.work / name).write_text(text)
    sites = Sites(s)
    areas = {name: new_directory(s.work / "areas" / name) for name in NAMES}
    for name, area in areas.items():
        sites.write(name, 1, f'Door = "file://{area}"\n', area=str(area))
    sites.publish()
    (areas["west"] / "broken").touch()
    return areas


def results(s: Scene) -> dict[str, str]:
    """By unit, the site at which it was done."""
    found = {}
    for path in (s.work / "results").iterdir():
        unit, _, site = path.name.partition("-at-")
        assert path.read_text() == f"DATA OF UNIT {unit[4:]}\n"
        found[unit] = site.partition("-")[0]
    return found


@STAGE.scene
def three_units_at_three_sites(s: Scene) -> None:
    """One site fails all jobs: its unit is staged in once more, at another site."""
    areas = three_sites(s)
    s.submit("CONFIG t.config\nINCLUDE placed.dag\n")
    assert s.ends() == 0
    sites = results(s)
    assert sorted(sites) == ["unit1", "unit2", "unit3"]
    assert set(sites.values()) == {"north", "south"}
    said = s.out()
    assert said.count(" is matched to site west-") == 1
    assert said.count(" has to leave site west-") == 1
    staged = s.text("t.dag.nodes.log")
    assert all(f'Destination = "{area}/unit' in staged for area in areas.values())
    assert [path.name for area in areas.values() for path in area.iterdir()] == ["broken"]


test_data_at_sites = STAGE.tests()
