"""`htcondor2.Submit.from_dag` starts our condor_dagman: whatever options it is given, we understand
the arguments that it writes.

The option names are those of the bindings (their DAGMan options, and the words of their version 1).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import htcondor2
import pytest

from condor_pydagman.dagman_job.condor_sub import old_arguments
from condor_pydagman.dagman_job.options import parse_dagman

# Option, its value, and what our command line says then; `None` where the bindings keep it.
OPTIONS = [
    ("AddToEnv", "A=1;B=x y", "insert_env", ("A=1;B=x y",)),
    ("AllowVersionMismatch", True, "allow_version_mismatch", True),
    ("AutoRescue", 0, "auto_rescue", 0),
    ("BatchName", "b c", None, None),
    ("ConfigFile", "c", None, None),
    ("DagmanPath", "/x/condor_dagman", "dagman", "/x/condor_dagman"),
    ("DebugLevel", 4, "debug", 4),
    ("DoRecovery", True, "do_recovery", True),
    ("DoRescueFrom", 1, "do_rescue_from", 1),
    ("Force", True, "force", True),
    ("GetFromEnv", "A,B", "include_env", ("A,B",)),
    ("ImportEnv", True, "import_env", True),
    ("AppendFile", "c", None, None),
    ("LockFile", "l", "lockfile", "t.dag.lock"),
    ("MaxHold", 3, None, None),
    ("MaxIdle", 4, "max_idle", 4),
    ("MaxJobs", 5, "max_jobs", 5),
    ("MaxPost", 0, "max_post", 0),
    ("MaxPre", 7, "max_pre", 7),
    ("Notification", "never", "notification", "never"),
    ("OutfileDir", "o", "outfile_dir", "o"),
    ("PostRun", True, "always_run_post", True),
    ("PostRun", False, "always_run_post", False),
    ("Priority", -8, "priority", -8),
    ("Recurse", True, "do_recurse", True),
    ("RescueFile", "r x", "rescue_file", "r x"),
    ("SaveFile", "s", "load_save", "s"),
    ("ScheddAddressFile", "sa", None, None),
    ("ScheddDaemonAdFile", "sd", None, None),
    ("SetupOnly", True, "setup_only", True),
    ("SubmitMethod", 0, "submit_method", 0),
    ("SuppressNotification", True, "suppress_notification", True),
    ("SuppressNotification", False, "suppress_notification", False),
    ("UpdateSubmit", True, "update_submit", True),
    ("UseDagDir", True, "use_dag_dir", True),
    ("Verbose", True, "verbose", True),
    ("alwaysrunpost", True, "always_run_post", True),
    ("batch-name", "x", None, None),
    ("config", "c", None, None),
    ("dagman", "/y/condor_dagman", "dagman", "/y/condor_dagman"),
    ("debug", 2, "debug", 2),
    ("do_recurse", False, "do_recurse", None),
    ("dorecov", True, "do_recovery", True),
    ("import_env", True, "import_env", True),
    ("include_env", "Q", "include_env", ("Q",)),
    ("insert_env", "Z=1", "insert_env", ("Z=1",)),
    ("load_save", "s", "load_save", "s"),
    ("outfile_dir", "o p", "outfile_dir", "o p"),
    ("schedd-address-file", "q", None, None),
    ("schedd-daemon-ad-file", "p", None, None),
    ("suppress_notification", True, "suppress_notification", True),
    ("update_submit", True, "update_submit", True),
]
# Bindings such as 25.0 do not know the first and do not hand the second on.  They always write
# -DoRescueFrom, which condor_dagman, the stock one too, refuses with the others.
NEWER = ("SetupOnly", "RescueFile", "SaveFile", "load_save")
WRITE = """\
import json, os, sys
import htcondor2
found = []
for name, value in json.load(sys.stdin):
    if os.path.exists("t.dag.condor.sub"):
        os.unlink("t.dag.condor.sub")
    open("t.dag.rescue001", "w").close()
    try:
        htcondor2.Submit.from_dag("t.dag", {name: value})
    except KeyError:
        found.append("")
        continue
    with open("t.dag.condor.sub") as file:
        found.append(file.read())
json.dump(found, sys.stderr)
"""


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What the bindings write for each option; '' for one that they do not know."""
    place = tmp_path_factory.mktemp("from_dag")
    (place / "t.dag").write_text("JOB A j.sub\n")
    (place / "c").write_text("")
    (place / "condor_dagman").write_text("#!/bin/sh\n")
    (place / "condor_dagman").chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", WRITE],
        input=json.dumps([(name, value) for name, value, _, _ in OPTIONS]),
        cwd=place,
        env={**os.environ, "PATH": f"{place}:{os.environ['PATH']}", "CONDOR_CONFIG": "ONLY_ENV"},
        capture_output=True,
        text=True,
        check=True,
    )
    return list(json.loads(done.stderr))


@pytest.mark.parametrize("number", range(len(OPTIONS)), ids=[f"{o[0]}={o[1]}" for o in OPTIONS])
def test_we_understand_what_from_dag_writes(texts: list[str], number: int) -> None:
    name, _, attribute, value = OPTIONS[number]
    basic = old_arguments(texts[OPTIONS.index(("MaxHold", 3, None, None))])
    if name in NEWER and "-DoRescueFrom" in basic:
        pytest.skip(f"bindings {htcondor2.version().split()[1]} can't hand {name} on")
    options = parse_dagman(old_arguments(texts[number]))
    assert options.dag_files == ("t.dag",)
    assert options.dagman.endswith("condor_dagman")
    if attribute:
        assert getattr(options, attribute) == value
    else:  # and nothing else is said then
        assert options == parse_dagman(basic), name
