"""A DAG as notebooks show it: its picture, or what can be said of it in words."""

from __future__ import annotations

from condor_pydagman.errors import PydagmanError
from condor_pydagman.graph.model import Dag
from condor_pydagman.graph.statistics import count_arcs
from condor_pydagman.picture import States, make_picture, svg
from condor_pydagman.picture.graphviz import find_dot
from condor_pydagman.printable import number_of, printable

FOLD_ABOVE = 120  # boxes
MAX_NODES = 20_000  # of a picture that nobody has asked for: it takes a second
NO_PICTURE = (
    f"Of more than {MAX_NODES:,} nodes no picture is shown here; condor_pydagman draw makes one of"
    " any DAG file."
)


def dag_mimebundle(dag: Dag, title: str = "") -> dict[str, str]:
    """A finished Dag by media type, for `_repr_mimebundle_`: text, and a picture as draw makes it.

    There is none of a large DAG, nor without Graphviz; the text says so.

    Args:
        title: what it is called; '' for the name of its first file.
    """
    name = title or (dag.files[0] if dag.files else "DAG")
    size = f"{number_of(len(dag), 'node')}, {number_of(count_arcs(dag), 'edge')}"
    text = f"{printable(name)}: {size}"
    try:
        picture = _picture(dag, name)
    except PydagmanError as error:
        return {"text/plain": f"{text}\n{error}"}
    if not picture:
        return {"text/plain": text}
    return {"text/plain": text, "image/svg+xml": picture}


def _picture(dag: Dag, title: str) -> str:
    """As SVG; '' for a DAG without nodes.

    Raises:
        PydagmanError: there is none.
    """
    if not len(dag):
        return ""
    if len(dag) > MAX_NODES:
        raise PydagmanError(NO_PICTURE)
    made = make_picture(dag, States(dag), title, find_dot(), fold_above=FOLD_ABOVE)
    return "".join(svg(made))
