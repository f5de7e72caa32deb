"""Pages of the Python API: what `condor_pydagman.__all__` names, by topic.

The text comes from the docstrings, which Sphinx reads.
"""

from __future__ import annotations

import inspect

import condor_pydagman

# Title, and the modules that the names come from.
TOPICS = {
    "building": ("Build DAGs", ("workflow.workflow", "workflow.nodes")),
    "reading": (
        "Read and check DAGs",
        ("api.dag_reading", "api.dag_view", "graph.model", "api.dag_errors", "api.dag_lint",
         "features.timeout.commands", "lint.findings", "vocabulary"),
    ),
    "running": (
        "Submit, watch and steer DAGs",
        ("api.dag_submit", "api.dag_run", "api.run_end", "api.run_report", "api.dag_state",
         "monitor.found_state", "api.dag_subscription", "adapters.request_client",
         "api.run_explanation", "explain.explanation", "follow.notice", "api.node_logs"),
    ),
    "history": (
        "Events and history",
        ("api.dag_history", "follow.dag_events", "follow.run_model"),
    ),
    "files": ("Rescue and status files", ("api.rescue_files", "api.status_files")),
    "data": ("Move data", ("placement.api",)),
    "errors": ("Exceptions", ("errors",)),
}  # fmt: skip
HEAD = """\
Python API
==========

Everything that ``from condor_pydagman import ...`` supports; :doc:`/docs/python` introduces it with
examples.

.. toctree::
   :hidden:

"""


class NoTopicError(Exception):
    """A name of `__all__` comes from a module that has no topic here."""


def pages() -> dict[str, str]:
    """Text of each page, by its path.

    Raises:
        NoTopicError: a name of `__all__` comes from a module that has no topic here.
    """
    names: dict[str, list[str]] = {topic: [] for topic in TOPICS}
    for name in condor_pydagman.__all__:
        names[topic_of(name)].append(name)
    found = {f"api/{topic}.rst": page(topic, names[topic]) for topic in TOPICS}
    listed = "".join(f"   {topic}\n" for topic in TOPICS)
    return {"api/index.rst": f"{HEAD}{listed}\n{contents(names)}", **found}


def topic_of(name: str) -> str:
    """The page that a name is described on.

    Raises:
        NoTopicError: there is none.
    """
    module = condor_pydagman._HOME_OF[name]
    for topic, (_, modules) in TOPICS.items():
        if module in modules:
            return topic
    raise NoTopicError(f"{name} is new in __all__: put {module} in TOPICS of {__file__}")


def in_order(names: list[str]) -> list[str]:
    """Functions first, as they are what a program begins with."""
    return sorted(names, key=lambda name: (_is_class(name), name.lower()))


def page(topic: str, names: list[str]) -> str:
    """A topic: what its names are, from their docstrings."""
    title = TOPICS[topic][0]
    parts = [f"{title}\n{'=' * len(title)}\n\n.. py:currentmodule:: condor_pydagman\n"]
    for name in in_order(names):
        if _is_class(name):
            parts.append(f".. autoclass:: condor_pydagman.{name}\n   :members:\n")
        else:
            parts.append(f".. autofunction:: condor_pydagman.{name}\n")
    return "\n".join(parts)


def contents(names: dict[str, list[str]]) -> str:
    """A table for each topic: name, and the first sentence about it."""
    parts = []
    for topic, (title, _) in TOPICS.items():
        heading = f"{title}\n{'-' * len(title)}"
        rows = [
            f"   * - :py:obj:`~condor_pydagman.{name}`\n     - {_summary(name)}\n"
            for name in in_order(names[topic])
        ]
        table = f".. list-table::\n   :class: api\n   :widths: 1 3\n\n{''.join(rows)}"
        parts.append(f"{heading}\n\n{table}\n")
    return "\n".join(parts)


def _is_class(name: str) -> bool:
    return inspect.isclass(getattr(condor_pydagman, name))


def _summary(name: str) -> str:
    """The first paragraph of the docstring, in a line."""
    text = inspect.getdoc(getattr(condor_pydagman, name)) or ""
    return " ".join(text.partition("\n\n")[0].split())
