"""DAGs of an author who attacks whoever looks at them, and what gives the attack away."""

from __future__ import annotations

import _ctypes
import os
import shutil
import stat
from pathlib import Path
from typing import Any

from condor_pydagman.names import DagPaths
from tests.dag_logs import DagLogs

AUTHOR = (12345, 12345)
VALUE = "S3CRETxVALUE"  # what a file of whoever looks has

# Statements that make a reader run a command, each with its own mark, or open a file. {run} is a
# command, {fifo} and {secret} are files, {dir} has a file of the name of the secret's value.
COMMANDS = {
    "include": "include : {run} |\nqueue",
    "include-command": "include command : {run}\nqueue",
    "include-into": "include output into {here}/into : {run}\nqueue",
    "include-at": "@include : {run} |\nqueue",
    "include-broken": "inclu\\\nde : {run} |\nqueue",
    "include-cases": "iNcLu\\\nDE command : {run}\nqueue",
    "include-macro": "m = {run} |\ninclude : $(m)\nqueue",
    "include-remark": "# said \\\ninclude : {run} |\nqueue",
    "include-if": "if true\ninclude : {run} |\nendif\nqueue",
    "queue": "queue a from {run} |",
    "queue-broken": "queue a fr\\\nom {run} \\\n|",
    "queue-macro": "m = {run} |\nqueue a from $(m)",
    "queue-pipe": "p = |\nqueue a from {run} $(p)",
}
FILES = {
    "fifo": "include : {fifo}\nqueue",
    "fifo-items": "queue a from {fifo}",
    "fifo-macro": "m = {fifo}\nqueue a from $(m)",
    "secret": "include : {secret}\ninclude : {dir}/$(KEY)\nqueue",
    "secret-items": "queue a from {secret}\noutput = {dir}/$(a)",
    "secret-output": "include : {secret}\noutput = {dir}/$(KEY)\nerror = {dir}/$(KEY)\nqueue",
    "secret-macro": "m = {secret}\ninclude : $(m)\ninclude : {dir}/$(KEY)\nqueue",
    "secret-link": "include : {here}/link\ninclude : {dir}/$(KEY)\nqueue",
    "secret-names": "error = {dir}/$Fn(a)\nqueue a matching {home}/{value}*",
    "environment": "error = {dir}/$ENV(TOKEN)\ninclude : {dir}/$ENV(TOKEN)\nqueue",
    "printed": "error = {secret}\noutput = {secret}\nqueue",
    "fifo-output": "error = {fifo}\noutput = {fifo}\nlog = {fifo}\nqueue",
    "library": "CLASSAD_USER_LIBS = {here}/evil.so\nCLASSAD_USER_PYTHON_MODULES = evil\nqueue",
    "endless": "queue a matching /*/*/*/*/*/*/*/*",
    "huge": "a0 = xxxxxxxx\n"
    + "".join(f"a{n} = $(a{n - 1})$(a{n - 1})\n" for n in range(1, 40))
    + "arguments = $(a39)\nerror = $(a39)\nqueue",
    "many": "queue 1000000000",
}


class HostileDag:
    """Files below a directory: the author's, and those of whoever looks.

    Attributes:
        here: the author's directory.
        directory: his, with a file of the name of the secret's value.
        secret: a file of whoever looks, which the author can't read.
    """

    def __init__(self, top: Path) -> None:
        self.here, home = top / "author", top / "home"
        self.directory, self.secret = self.here / "dir", home / "secret"
        self.directory.mkdir(parents=True)
        home.mkdir(mode=0o700)
        self.secret.write_text(f"KEY = {VALUE}\n")
        self.secret.chmod(0o600)
        (home / VALUE).touch()
        table = home / "table"
        table.write_text(f"KEY\n{VALUE}\n")
        table.chmod(0o600)
        private = home / "private.dag"
        private.write_text(f"JOB P {self.directory}/{VALUE}\n")
        private.chmod(0o600)
        (self.directory / VALUE).write_text("queue\n")
        os.mkfifo(self.here / "fifo")
        (self.here / "link").symlink_to(self.secret)
        shutil.copy(_ctypes.__file__, self.here / "evil.so")
        script = self.here / "c.sh"
        script.write_text(f'#!/bin/sh\necho > "{self.here}/ran-$1"\n')
        script.chmod(0o755)
        self._words = {
            "here": self.here,
            "home": home,
            "fifo": self.here / "fifo",
            "dir": self.directory,
            "secret": self.secret,
            "value": VALUE[:3],
        }

    def text(self, form: str, name: str) -> str:
        """A form with its words."""
        return form.format(run=f"{self.here}/c.sh {name}", **self._words)

    def descriptions(self) -> dict[str, str]:
        """All texts, by name."""
        forms = {**COMMANDS, **FILES}
        return {
            name: f"executable = /bin/true\n{self.text(form, name)}\n"
            for name, form in forms.items()
        }

    def marks(self) -> set[str]:
        """What has been run."""
        return {path.name for path in self.here.glob("ran-*")}

    def write(self) -> None:
        """Write the DAGs, with forged logs of their runs."""
        config = self.text(CONFIG, "config")
        (self.here / "evil.config").write_text(config)
        for name, text in self.descriptions().items():
            (self.here / f"{name}.sub").write_text(text)
        dags = {
            "failed": (_nodes(self.descriptions()), 1),
            "finished": (_nodes(self.descriptions()), 0),
            "running": (_nodes(self.descriptions()), None),
            "table": (self.text(TABLE, "table"), 1),
            "included": (self.text("INCLUDE {home}/private.dag\n", ""), 1),
            "spliced": (self.text("SPLICE S {home}/private.dag\n", ""), None),
            "linked": (self.text(LINKED, "linked"), 1),
        }
        for name, (text, code) in dags.items():
            file = self.here / f"{name}.dag"
            file.write_text(f"CONFIG evil.config\n{text}")
            _write_logs(file, code)
        (self.here / "fifos.dag").write_text(self.text(FIFOS, "fifos"))
        paths = DagPaths(str(self.here / "fifos.dag"))
        for path in _files_of(paths):
            if not os.path.lexists(path):
                os.mkfifo(path)
        if os.geteuid() == 0:
            for path in (self.here, *self.here.rglob("*")):
                os.chown(path, *AUTHOR, follow_symlinks=False)
        self.here.chmod(0o777)


CONFIG = """\
include command : {run}-command
include : {run}-pipe |
inclu\\
de : {run}-broken |
DAGMAN.LOCAL_CONFIG_FILE = {run}-prefixed |
TOOL.LOCAL_CONFIG_FILE = {run}-tool |
LOCAL_CONFIG_FILE = {run}-local |
CLASSAD_USER_LIBS = {here}/evil.so
COLLECTOR_HOST = 127.0.0.1:2
SEC_DEFAULT_AUTHENTICATION = NEVER
include : {secret}
include : {dir}/$(KEY)
include : {fifo}
DAGMAN_MAX_JOBS_IDLE = 7
"""
TABLE = """\
SWEEP sim_{{KEY}} {dir}/{{KEY}} ROWS {home}/table DIR {dir}/{{KEY}}
"""
# Descriptions that whoever looks alone can read, with macros of the author's.
LINKED = """\
JOB L link
VARS L error="{dir}/$(KEY)" output="{dir}/$(KEY)" initialdir="{dir}"
JOB M {secret}
VARS M error="{dir}/$(KEY)" output="{dir}/$(KEY)"
SUBMIT-DESCRIPTION inline {{
    include : {secret}
    include : {run} |
    error = {dir}/$(KEY)
    queue
}}
JOB I inline
SCRIPT DEBUG {fifo} ALL POST I {run}
SCRIPT DEBUG {dir}/{value} ALL PRE I {run}
CACHE L CHECKSUM INPUTS {fifo}
"""
FIFOS = """\
JOB A fifo
SUBDAG EXTERNAL S fifo
DATA D fifo
SCRIPT DEBUG fifo ALL POST A c.sh fifos
NODE_STATUS_FILE fifo
JOBSTATE_LOG fifo
DOT fifo INCLUDE fifo
CONFIG fifo
"""


def _nodes(names: Any) -> str:
    return "".join(f"JOB {name} {name}.sub\n" for name in names)


def _write_logs(file: Path, code: int | None) -> None:
    """Each node's job has ended with this code; None: it is idle."""
    logs = DagLogs(file.parent, file.name)
    logs.start()
    logs.say("DAGMAN_MAX_JOBS_IDLE = 7, set in evil.config, line 12")
    names = [line.split()[1] for line in file.read_text().splitlines() if line[:4] == "JOB "]
    for cluster, name in enumerate(names, 1):
        logs.submit(name, cluster)
        if code is not None:
            logs.execute(cluster)
            logs.terminate(cluster, value=code)
    if code is not None:
        logs.end(code)


def _files_of(paths: DagPaths) -> list[str]:
    """All names that belong to a DAG, rescue files among them."""
    found = [paths.rescue(1)]
    for name in dir(DagPaths):
        if isinstance(getattr(DagPaths, name), property):
            value = getattr(paths, name)
            if isinstance(value, str) and value.startswith(paths.primary):
                found.append(value)
    return found


def is_fifo(path: str) -> bool:
    return stat.S_ISFIFO(os.lstat(path).st_mode)
