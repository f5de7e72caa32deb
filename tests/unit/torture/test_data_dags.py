"""DAGs of the torture test of data placement: their files, and what is read of their ends."""

from __future__ import annotations

from pathlib import Path
from random import Random

from condor_pydagman.data_requests.request_macros import Macros
from condor_pydagman.data_requests.request_text import read_requests
from tests.torture import data_dags
from tests.torture.data_dags import IN, DataDag, Servers, successes

SERVERS = Servers("dav://127.0.0.1:81", "ftp://me:geheim@127.0.0.1:21", 9)
OUT = """\
11/27/26 10:03:42 Event: ULOG_JOB_TERMINATED for HTCondor Node in-u0 (7.0.0) {11/27/26 10:03:40}
11/27/26 10:03:42 Node in-u0 job proc (7.0.0) completed successfully.
11/27/26 10:03:42 Node in-u1 job proc (8.0.0) failed with status 17.
11/27/26 10:03:46 Node in-u0 job proc (7.0.0) completed successfully.
"""


def drawn(seed: int) -> DataDag:
    return data_dags.draw("dag1", Path("/work"), Random(seed), 2 * len(IN), SERVERS)


def test_every_request_can_be_read_and_makes_what_it_should() -> None:
    dag = drawn(1)
    assert len(dag.makes) == 4 * 2 * len(IN) + 2
    for name, text in dag.files.items():
        if not name.endswith(".dap"):
            continue
        found = read_requests(text.decode(), name, Macros({}, {}), "/work").placements
        made = dag.makes[name.removesuffix(".dap")]
        assert len(found) in (1, len(made))
    where = {place.where for place in dag.contents()}
    assert where == {"", "ftp", "http"}


def test_nodes_that_have_succeeded() -> None:
    assert set(successes(OUT)) == {("in-u0", 7)}
    assert not list(successes(""))
