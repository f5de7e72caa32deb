"""How to get HTCondor, for the machine that has none."""

from __future__ import annotations

import pytest

from condor_pydagman.pool import advice

EL = {"ID": "almalinux", "ID_LIKE": "rhel centos fedora"}


@pytest.mark.parametrize(
    ("system", "release", "environment", "first"),
    [
        ("Linux", {"ID": "debian"}, {}, "Debian: as root, apt-get install minicondor"),
        ("Linux", {"ID": "raspbian", "ID_LIKE": "debian"}, {}, "Debian: as root, apt-get"),
        ("Linux", {"ID": "ubuntu", "ID_LIKE": "debian"}, {}, "Ubuntu: as root, apt-get"),
        ("Linux", EL, {}, "Enterprise Linux: as root, dnf install minicondor"),
        ("Linux", {"ID": "fedora"}, {}, "Enterprise Linux: as root, dnf install minicondor"),
        ("Linux", EL, {"CONDA_PREFIX": "/c"}, "conda: conda install -c conda-forge htcondor"),
        ("Linux", EL, {"container": "podman"}, "container: install it when you build the image"),
        ("Linux", {"ID": "arch"}, {}, "without root: download a tarball"),
        ("Darwin", {}, {}, "macOS: a pool of condor_pydagman needs Linux"),
    ],
)
def test_the_platforms_own_way_comes_first(
    system: str, release: dict[str, str], environment: dict[str, str], first: str
) -> None:
    text = advice.how_to_get(system, release, environment)
    assert text.splitlines()[0] == "How to get HTCondor 24.12 or newer:"
    assert text.splitlines()[1].strip().startswith(first)


def test_a_tarball_does_wherever_a_pool_runs() -> None:
    assert "pool start --release" in advice.how_to_get("Linux", EL, {})
    assert "--release" not in advice.how_to_get("Darwin", {}, {})


def test_os_release() -> None:
    text = '# a comment\nID=debian\nNAME="Debian GNU/Linux"\n\nodd line\n'
    assert advice.parse_os_release(text) == {"ID": "debian", "NAME": "Debian GNU/Linux"}
