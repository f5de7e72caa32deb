"""State diagrams, which a Git web page draws from Mermaid's language, drawn with Graphviz.

Mermaid itself is a script that would be loaded from elsewhere.  Without Graphviz the site has the
text of the diagram.
"""

from __future__ import annotations

import re
import shutil
import subprocess

from docutils import nodes
from sphinx.application import Sphinx

ARROW = re.compile(r"(\S+) --> (\S+?)(?:: (.*))?")
ENDS = "[*]"  # where a state begins, and where it ends
HEAD = """\
digraph states {
    bgcolor = transparent; ranksep = 0.3; nodesep = 0.15
    node [shape = box, style = rounded, fontname = "sans-serif", fontsize = 11, height = 0.3]
    edge [fontname = "sans-serif", fontsize = 9, arrowsize = 0.6]
"""


class DiagramError(Exception):
    """A line of a diagram is of a kind that is not drawn."""


def dot(text: str) -> str:
    """A state diagram of Mermaid in Graphviz's language.

    Raises:
        DiagramError: a line is of a kind that is not drawn.
    """
    head, *lines = text.split("\n")
    if head != "stateDiagram-v2":
        raise DiagramError(f"is a {head}, not a stateDiagram-v2")
    drawn = [HEAD]
    for line in filter(None, map(str.strip, lines)):
        arrow = ARROW.fullmatch(line)
        if not arrow:
            raise DiagramError(f"has a line that is no arrow: {line}")
        ends = [f"{name}{n}" if name == ENDS else name for n, name in enumerate(arrow.groups()[:2])]
        label = (arrow[3] or "").replace(", ", r"\n")
        drawn += [
            f'"{name}" [shape = point, width = 0.12, height = 0.12]\n'
            for name in ends
            if name.startswith(ENDS)
        ]
        drawn.append(f'"{ends[0]}" -> "{ends[1]}" [label = "{label}"]\n')
    return "".join((*drawn, "}\n"))


def svg(graph: str) -> str | None:
    """A picture in the colours of the page around it; None without Graphviz."""
    try:
        import pygraphviz
    except ImportError:
        program = shutil.which("dot")
        if program is None:
            return None
        drawn = subprocess.run([program, "-Tsvg"], input=graph, stdout=subprocess.PIPE,
                               encoding="utf-8", check=True).stdout  # fmt: skip
    else:
        drawn = pygraphviz.AGraph(string=graph).draw(format="svg", prog="dot").decode("utf-8")
    drawn = drawn[drawn.index("<svg") :].replace('"black"', '"currentColor"')
    # Titles are shown when the pointer rests there, and have the names of arrows in that language.
    return re.sub(r"<!--.*?-->\n?|<title>.*?</title>\n?", "", drawn, flags=re.S)


def draw(app: Sphinx, document: nodes.document) -> None:
    """Put pictures in place of the texts of diagrams."""
    for node in list(document.findall(nodes.literal_block)):
        if node.get("language") != "mermaid":
            continue
        try:
            picture = svg(dot(node.astext()))
        except DiagramError as error:
            document.reporter.error(f"a diagram {error}", line=node.line)
            picture = None
        if picture is None:
            node["language"] = "text"
        else:
            node.replace_self(nodes.raw("", f'<div class="diagram">{picture}</div>', format="html"))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the transformation."""
    app.connect("doctree-read", draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
