"""Where the nodes log is, and where it may not be."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.adapters.outlog import OutLog
from condor_pydagman.config import Config
from condor_pydagman.daemon import nodes_log_path
from condor_pydagman.daemon.dag_input import CannotStart
from condor_pydagman.names import DagPaths


def path(template: str, cluster: int = 7) -> str:
    own_ad = {"Owner": "ann", "DAGNodeName": "outer"}
    config = Config(default_node_log=template)
    return nodes_log_path.path(DagPaths("d/x.dag"), cluster, own_ad, config)


def test_every_macro_of_the_path_is_expanded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert path("@(DAG_DIR)/@(DAG_FILE).nodes.log") == f"{tmp_path}/d/x.dag.nodes.log"
    assert path("@(OWNER).@(CLUSTER).@(NODE_NAME)") == f"{tmp_path}/ann.7.outer"
    assert path("/logs/@(CLUSTER)", 0) == "/logs/-1"
    assert path("@(NOPE)") == f"{tmp_path}/@(NOPE)"


@pytest.mark.parametrize("name", ["/tmp/x.log", "/var/@(NOPE)/x"])
def test_logs_in_unsafe_places_are_refused(tmp_path: Path, name: str) -> None:
    out = OutLog(str(tmp_path / "out"))
    with pytest.raises(CannotStart, match="DAGMAN_USE_STRICT"):
        nodes_log_path.refuse(name, Config(), out)
    nodes_log_path.refuse(name, Config(use_strict=0), out)
    out.flush()
    assert name in (tmp_path / "out").read_text()
    nodes_log_path.refuse("/tmp/x", Config(avoid_slash_tmp=False), out)


MOUNTS = """\
/dev/a / ext4 rw 0 0
server:/home /home nfs4 rw 0 0
server:/b /mnt/with\\040blank nfs rw 0 0
/dev/b /mnt/local xfs rw 0 0
short
"""


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/x.log", "ext4"),
        ("/home/ann/x.log", "nfs"),
        ("/homes/ann/x.log", "ext4"),
        ("/mnt/local/x.log", "xfs"),
        ("/mnt/with blank/x", "nfs"),
    ],
)
def test_file_systems(tmp_path: Path, path: str, found: str) -> None:
    (tmp_path / "mounts").write_text(MOUNTS)
    assert nodes_log_path.file_system(path, str(tmp_path / "mounts")) == found
    assert nodes_log_path.file_system(path, "/no/such/file") == ""
