"""Looks at DAGs with all commands, functions and addresses that are asked for, each in a process of
its own, and writes what they have said.

    python -m tests.contract.looker < REQUEST

REQUEST is JSON: the directory, and lists of `["command", WORD...]`, `["checker", WORD...]`,
`["python", NAME, DAG]` and `["page", DAG]`.  The output is JSON: of each its exit code (minus a
signal) and its text.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import condor_pydagman
from condor_pydagman.cli import dag_checker, pydagman
from tests.unit.web.page_client import a_page

NODES, KINDS = 32, ("output", "log", "script-pre", "script-post", "script-hold")


def run_of(name: str) -> condor_pydagman.DagRun:
    return condor_pydagman.DagRun(name)


def report_of(name: str) -> str:
    made = run_of(name).report()
    return f"{made}{made._repr_html_()}"


def logs_of(name: str) -> list[str]:
    """What all its nodes have written, as far as that can be read."""
    run, said = run_of(name), []
    for node in condor_pydagman.read_run(name).nodes:
        with suppress(condor_pydagman.PydagmanError):
            said.append(str(run.logs(node)))
    return said


# What a program can look at a DAG with: functions of the package, methods of its classes.
FUNCTIONS: dict[str, Callable[[str], Any]] = {
    "check_dag": condor_pydagman.check_dag,
    "dag_events": lambda name: list(condor_pydagman.dag_events(name, follow=False)),
    "dag_status": condor_pydagman.dag_status,
    "lint_dag": condor_pydagman.lint_dag,
    "parse_dag": lambda name: condor_pydagman.parse_dag(Path(name).read_text(), name=name),
    "read_dag": condor_pydagman.read_dag,
    "read_node_status": condor_pydagman.read_node_status,
    "read_rescue": lambda name: condor_pydagman.read_rescue(f"{name}.rescue001"),
    "read_run": condor_pydagman.read_run,
    "Workflow.read": lambda name: condor_pydagman.Workflow.read(name).text(),
    "Workflow.check": lambda name: condor_pydagman.Workflow.read(name).check(),
    "DagRun.status": lambda name: run_of(name).status,
    "DagRun.attempts": lambda name: run_of(name).attempts(all_runs=True),
    "DagRun.statistics": lambda name: run_of(name).statistics(),
    "DagRun.to_frame": lambda name: run_of(name).to_frame(),
    "DagRun.events": lambda name: list(run_of(name).events(follow=False)),
    "DagRun.explain": lambda name: str(run_of(name).explain()),
    "DagRun.logs": logs_of,
    "DagRun.report": report_of,
    "DagRun._repr_mimebundle_": lambda name: run_of(name)._repr_mimebundle_(),
}


def look(request: list[str]) -> int:
    """In this process."""
    kind, *words = request
    if kind == "command":
        return pydagman.main(words)
    if kind == "checker":
        return dag_checker.main(words)
    if kind == "python":
        print(repr(FUNCTIONS[words[0]](words[1])))
        return 0
    print("\n".join(asyncio.run(page(Path(words[0]).absolute()))))
    return 0


async def page(dag: Path) -> list[str]:
    """What all addresses of the page say."""
    said = []
    async with a_page(dag) as browser:
        routes = browser.client.server.app.router.routes()
        for address in sorted({route.resource.canonical for route in routes if
                               route.method == "GET"}):  # fmt: skip
            url = address.replace("/api/dags/{id}", browser.dag)
            urls = [url]
            if "{number}" in url:
                urls = [url.replace("{number}", str(number)) for number in range(NODES)]
            elif url.endswith("/text"):
                kinds = [f"{kind}:{number}" for kind in KINDS for number in range(3)]
                kinds += [f"error:{number}" for number in range(NODES)]
                urls = [f"{url}?file={kind}" for kind in (*kinds, "dagman.out", "rescue")]
            for one in urls:
                async with browser.client.get(one.replace("{file}", "app.js")) as answer:
                    if one.endswith("/live"):  # it ends with the DAG
                        text = str(await answer.content.readline())
                    else:
                        text = await answer.text()
                    assert answer.status != 500, text
                    said.append(f"{one} {answer.status} {text}")
    return said


def looked(request: list[str]) -> tuple[int, str]:
    """How a process ends that looks, and what it writes."""
    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
            code = 99
            try:
                code = look(request)
            except SystemExit as end:
                code = int(end.code or 0)
            except (condor_pydagman.PydagmanError, OSError) as error:
                print(error)
                code = 1
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        output.seek(0)
        return code, output.read().decode("utf-8", "backslashreplace")


def main() -> None:
    """Do all, one after the other."""
    directory, requests = json.load(sys.stdin)
    os.chdir(directory)
    json.dump([looked(request) for request in requests], sys.stdout)


if __name__ == "__main__":
    main()
