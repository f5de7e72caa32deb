"""Man pages as pages of the site: reads the macros that ours use, and refuses all others.

mandoc and groff make HTML as well, but are not installed everywhere, and their pages would have
neither the looks nor the search of the others.
"""

from __future__ import annotations

import re
from typing import Any, Callable, Union

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.parsers import Parser

SECTIONS = (".1", ".5", ".7")
FONTS = {"B": nodes.strong, "I": nodes.emphasis, "R": None}
ALTERNATING = ("BI", "BR", "IB", "IR", "RB", "RI")
# Of the layout on paper.
WITHOUT_EFFECT = ("nh", "ad")
ESCAPE = re.compile(r"\\(?:f(?P<font>.)|\((?P<named>..)|(?P<char>.))")
CHARACTERS = {"-": "-", "\\": "\\", "e": "\\", "&": "", " ": "\N{NO-BREAK SPACE}"}
NAMED = {"bu": "\N{BULLET}", "aq": "'", "dq": '"'}
OTHER_PAGE = re.compile(r"\((\d)\)")

Piece = tuple[str, str]  # font, text
Container = Union[nodes.Element, nodes.document]


class ManError(Exception):
    """A line can't be shown; the message says why."""


def pieces(text: str, font: str) -> list[Piece]:
    """Text that begins in a font, without its escapes.

    Raises:
        ManError: an escape is unknown.
    """
    found: list[Piece] = []
    start, before, current = 0, font, font
    for match in ESCAPE.finditer(text):
        found.append((current, text[start : match.start()]))
        start = match.end()
        if match["font"]:
            if match["font"] not in (*FONTS, "P"):
                raise ManError(f"the font {match[0]}")
            before, current = current, before if match["font"] == "P" else match["font"]
            continue
        table, key = (NAMED, match["named"]) if match["named"] else (CHARACTERS, match["char"])
        if key not in table:
            raise ManError(f"the escape {match[0]}")
        found.append((current, table[key]))
    found.append((current, text[start:]))
    joined: list[Piece] = []
    for piece in found:
        if joined and joined[-1][0] == piece[0]:
            joined[-1] = (piece[0], joined[-1][1] + piece[1])
        elif piece[1]:
            joined.append(piece)
    return joined


def arguments(text: str) -> list[str]:
    """The arguments of a macro: words, or texts in double quotes."""
    words = re.findall(r'"((?:[^"]|"")*)"|(\S+)', text)
    return [quoted.replace('""', '"') or plain for quoted, plain in words]


def styled(macro: str, text: str) -> list[Piece]:
    """What a macro such as BR shows.

    Raises:
        ManError: an escape is unknown.
    """
    words = arguments(text)
    if len(macro) == 1:
        return pieces(" ".join(words), macro)
    return [piece for n, word in enumerate(words) for piece in pieces(word, macro[n % 2])]


class Page:
    """Builds the document of one page, line by line."""

    def __init__(self, document: nodes.document, env: Any) -> None:
        self.document = document
        self.env = env
        self.sections: list[Container] = [document]
        # Where paragraphs go, for each RS that is open; the innermost last.
        self.places: list[Container] = []
        self.home: Container = document  # of paragraphs that stand in no list
        self.text: list[list[Piece]] = [[]]  # of the present paragraph, by lines
        self.literal: list[str] | None = None
        self.terms: list[nodes.term] | None = None  # the next line is one

    def feed(self, line: str) -> None:
        """Take in a line.

        Raises:
            ManError: it can't be shown.
        """
        if line.startswith(('.\\"', "'\\\"")):
            return
        macro, _, rest = line[1:].partition(" ") if line.startswith(".") else ("", "", line)
        if self.literal is not None and macro != "fi":
            if macro:
                raise ManError(f"the macro {macro} in an example")
            self.literal.append("".join(text for _, text in pieces(line, "R")))
        elif not macro:
            self.add(pieces(line, "R"))
        elif macro in FONTS or macro in ALTERNATING:
            self.add(styled(macro, rest))
        elif macro not in WITHOUT_EFFECT:
            action: Callable[[str], None] | None = getattr(self, f"_do_{macro}", None)
            if action is None:
                raise ManError(f"the macro {macro}")
            action(rest)

    def add(self, found: list[Piece]) -> None:
        """Text of the present paragraph, or a term of a list."""
        if self.terms is None:
            self.text[-1] += [*([("R", " ")] if self.text[-1] else []), *found]
            return
        term = nodes.term("", "", *self.inline(found))
        words = term.astext().split()
        name = nodes.make_id(words[0]) if words else ""
        if name and name not in self.document.ids:
            term["ids"].append(name)
            self.document.ids[name] = term
        self.terms.append(term)
        self.item.insert(len(self.item) - 1, term)
        self.terms = None

    def inline(self, found: list[Piece]) -> list[nodes.Node]:
        """Pieces in their fonts; names of our own man pages are links."""
        made: list[nodes.Node] = []
        for n, (font, text) in enumerate(found):
            kind = FONTS[font]
            node = kind("", text) if kind else nodes.Text(text)
            if kind and text.startswith("-") and " " not in text:
                node["classes"].append("option")  # no line break after its hyphens
            after = found[n + 1][1] if n + 1 < len(found) else ""
            page = f"man/{text}"
            if kind and OTHER_PAGE.match(after) and page in self.env.found_docs:
                link = addnodes.pending_xref(
                    "", node, refdomain="std", reftype="doc", reftarget=f"/{page}",
                    refexplicit=True, refwarn=True, refdoc=self.env.docname,
                )  # fmt: skip
                node = link
            made.append(node)
        return made

    def end_paragraph(self) -> None:
        """Put the text that has been read where it belongs."""
        lines, self.text = [line for line in self.text if line], [[]]
        if len(lines) > 1:
            block = nodes.line_block()
            for line in lines:
                block += nodes.line("", "", *self.inline(line))
            self.home += block
        elif lines:
            self.home += nodes.paragraph("", "", *self.inline(lines[0]))

    def outside(self) -> Container:
        """Where a paragraph goes that stands in no list of this level."""
        return self.places[-1] if self.places else self.sections[-1]

    def _do_TH(self, rest: str) -> None:
        name, number = arguments(rest)[:2]
        found = "".join(text for _, text in pieces(name, "R"))
        self.start_section(1, f"{found.lower()}({number})")

    def _do_SH(self, rest: str) -> None:
        self.start_section(2, " ".join(arguments(rest)))

    def _do_SS(self, rest: str) -> None:
        self.start_section(3, " ".join(arguments(rest)))

    def start_section(self, depth: int, title: str) -> None:
        """Begin a section of that depth, which ends those that are as deep or deeper."""
        self.end_paragraph()
        del self.sections[depth:]
        self.places.clear()
        text = "".join(text for _, text in pieces(title, "R"))
        section = nodes.section("", nodes.title("", text), names=[nodes.fully_normalize_name(text)])
        self.document.note_implicit_target(section, section)
        self.sections[-1] += section
        self.sections.append(section)
        self.home = section

    def _do_PP(self, _: str) -> None:
        self.end_paragraph()
        self.home = self.outside()

    def _do_TP(self, _: str) -> None:
        self.end_paragraph()
        parent = self.outside()
        if not (len(parent) and isinstance(parent[-1], nodes.definition_list)):
            parent += nodes.definition_list()
        self.home = nodes.definition()
        self.item = nodes.definition_list_item("", self.home)
        parent[-1].append(self.item)
        self.terms = []

    def _do_TQ(self, _: str) -> None:
        if self.text[-1] or len(self.home):
            raise ManError("a TQ that does not follow a term")
        self.terms = []

    def _do_IP(self, rest: str) -> None:
        self.end_paragraph()
        mark = "".join(text for word in arguments(rest)[:1] for _, text in pieces(word, "R"))
        if not mark:
            return
        kinds = {"\N{BULLET}": nodes.bullet_list, "1.": nodes.enumerated_list}
        kind = kinds.get(re.sub(r"^\d+\.$", "1.", mark))
        if kind is None:
            raise ManError(f"the mark {mark} of a list")
        parent = self.outside()
        if not (len(parent) and isinstance(parent[-1], kind)):
            parent += kind()
        self.home = nodes.list_item()
        parent[-1].append(self.home)

    def _do_RS(self, _: str) -> None:
        self.end_paragraph()
        if self.home is self.outside():
            self.home = nodes.block_quote()
            self.outside().append(self.home)
        self.places.append(self.home)

    def _do_RE(self, _: str) -> None:
        self.end_paragraph()
        if not self.places:
            raise ManError("an RE without RS")
        self.places.pop()
        self.home = self.outside()

    def _do_br(self, _: str) -> None:
        self.text.append([])

    def _do_nf(self, _: str) -> None:
        self.end_paragraph()
        self.literal = []

    def _do_fi(self, _: str) -> None:
        text = "\n".join(self.literal or ())
        self.home += nodes.literal_block(text, text, language="text")
        self.literal = None


class ManParser(Parser):
    """Sphinx's parser of files whose names end in the section of a man page."""

    supported = ("man",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Build the document; a line that can't be shown is an error of the build."""
        self.setup_parse(inputstring, document)
        page = Page(document, document.settings.env)
        for number, line in enumerate(inputstring.splitlines(), 1):
            try:
                page.feed(line)
            except ManError as error:
                said = f"tools/site/man_pages.py does not know {error}"
                document.reporter.error(said, line=number)
        page.end_paragraph()
        self.finish_parse()


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the parser."""
    for suffix in SECTIONS:
        app.add_source_suffix(suffix, "man")
    app.add_source_parser(ManParser)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
