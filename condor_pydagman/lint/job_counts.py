"""How many jobs the nodes of a DAG have, by their submit descriptions; nothing is submitted.

HTCondor's bindings read the descriptions, in a process that can do nothing else.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from itertools import islice

from condor_pydagman.adapters.described_jobs import COMMANDS
from condor_pydagman.adapters.files import working_directory
from condor_pydagman.adapters.followed_files import Followed, owner_of, text_of_node
from condor_pydagman.adapters.foreign_texts import NotRead, read
from condor_pydagman.data_requests.request_ads import is_request
from condor_pydagman.errors import PydagmanError
from condor_pydagman.features.common.adapters.submit_errors import at_queue
from condor_pydagman.features.common.first_nodes import FirstNodes
from condor_pydagman.graph.model import Dag
from condor_pydagman.language.description import template_of
from condor_pydagman.lint.file_rules import MAY_COME
from condor_pydagman.lint.request_rules import macros_of, request_problem
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.records.job_description import Workflow, describe

_ABSENT = os.strerror(errno.ENOENT)
_READER = "condor_pydagman.adapters.described_jobs:commands"


class JobCount(NamedTuple):
    """The jobs of all nodes with one submit description."""

    name: str  # of the submit file, relative to the working directory, or of the inline description
    nodes: int  # how many nodes have it
    jobs: int  # how many jobs these have together
    problem: str = ""  # what is wrong with the description, '' if nothing is
    uncounted: str = ""  # why the number is not known all the same, '' if it is


def count_jobs(dag: Dag, nodes: Iterable[int], workflow: Workflow) -> list[JobCount]:
    """The jobs of nodes, by their submit descriptions in the order of the nodes.

    A description whose queue statement has no macro is read once; another one for each node.

    Args:
        nodes: which nodes; those of sub-DAGs and NOOP nodes have none.
    """
    firsts = FirstNodes(dag)
    by_description: dict[tuple[str, str], list[int]] = {}
    for node in nodes:
        key = dag.submits[node], dag.directories.get(node, "")
        by_description.setdefault(key, []).append(node)
    return [
        _may_come(_count(dag, users, *key, workflow), users, firsts)
        for key, users in by_description.items()
    ]


def _may_come(count: JobCount, nodes: list[int], firsts: FirstNodes) -> JobCount:
    """The same, but that it is no problem if a file is missing which something may still write."""
    if not count.problem.endswith(_ABSENT) or any(map(firsts.job_is_first, nodes)):
        return count
    why = f"jobs not counted: {count.problem}; {MAY_COME}"
    return count._replace(problem="", uncounted=why)


def _count(dag: Dag, nodes: list[int], submit: str, directory: str, workflow: Workflow) -> JobCount:
    inline, text = submit in dag.descriptions, ""
    name = submit if inline else os.path.normpath(os.path.join(directory, submit))
    try:
        of_dag = owner_of(dag.files[0])
        with working_directory(directory):
            text, owner = text_of_node(dag, nodes[0], of_dag)
            if is_request(dag.kinds[nodes[0]], text):
                return _count_workers(dag, nodes, name, text)
            template = template_of(text)
            differ = any("$(" in queue for _, queue in template)
            texts = (describe(dag, node, template, workflow) for node in nodes)
            found = (read(_READER, Followed(text, owner), 0, shape=COMMANDS)[0] for text in texts)
            numbers = list(islice(found, None if differ else 1))
    except OSError as error:
        return JobCount(name, len(nodes), 0, error.strerror or str(error))
    except NotRead as error:
        return JobCount(name, len(nodes), 0, uncounted=f"jobs not counted: {error}")
    except PydagmanError as error:
        return JobCount(name, len(nodes), 0, at_queue(getattr(error, "reason", str(error)), text))
    return JobCount(name, len(nodes), sum(numbers) if differ else numbers[0] * len(nodes))


def _count_workers(dag: Dag, nodes: list[int], name: str, text: str) -> JobCount:
    """DATA nodes with a request: each has one job."""
    for node in nodes:
        error = request_problem(text, name, macros_of(dag, node, text))
        if error is not None:
            hint = f" ({error.hint})" if error.hint else ""
            return JobCount(name, len(nodes), 0, f"line {error.line}: {error.message}{hint}")
    return JobCount(name, len(nodes), len(nodes))
