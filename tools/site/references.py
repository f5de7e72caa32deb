"""What the site adds to pages: links to the API's pages and to man pages, breaks in long words."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

import condor_pydagman

WIDEST_WORD = 28
MAN = re.compile(r"man (?:\d )?(\S+)")


def link_names(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, content: nodes.TextElement
) -> Any:
    """Resolve a class by its module, as annotations name it, to the name that `__all__` has."""
    name = node.get("reftarget", "").rpartition(".")[2]
    if node.get("refdomain") != "py" or name not in condor_pydagman.__all__:
        return None
    return env.get_domain("py").resolve_xref(
        env, node["refdoc"], app.builder, "obj", f"condor_pydagman.{name}", node, content
    )


def link_man_pages(app: Sphinx, document: nodes.document) -> None:
    """Make `man dagman-language`, written as code, a link."""
    env = app.builder.env
    for node in list(document.findall(nodes.literal)):
        found = MAN.fullmatch(node.astext())
        page = f"man/{found[1]}" if found else ""
        if page in env.found_docs and not isinstance(node.parent, nodes.reference):
            link = nodes.reference("", "", internal=True)
            link["refuri"] = app.builder.get_relative_uri(env.docname, page)
            node.replace_self(link)
            link += node


def break_long_words(_: Sphinx, document: nodes.document) -> None:
    """Mark code in tables that may be broken anywhere, as it is wider than a column should be."""
    for entry in document.findall(nodes.entry):
        for node in entry.findall(nodes.literal):
            if max(map(len, node.astext().split()), default=0) > WIDEST_WORD:
                node["classes"].append("long")


def draw_dashes(_: Sphinx, document: nodes.document) -> None:
    """Draw the dash that Sphinx puts after the name of an argument.

    Its setting that does so would also make dashes of the two hyphens that options begin with.
    """
    for node in list(document.findall(nodes.Text)):
        if node == " -- ":
            node.parent.replace(node, nodes.Text(" \N{EN DASH} "))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register all of it."""
    app.connect("missing-reference", link_names)
    app.connect("doctree-read", link_man_pages)
    app.connect("doctree-read", break_long_words)
    app.connect("doctree-read", draw_dashes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
