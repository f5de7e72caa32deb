"""The documentation as a web site: `python -m tools.site` makes it, with Sphinx.

`stage` copies the pages to a directory of its own, in the layout that they have here, and adds
those that are made: of the Python API and the examples.  `docs/conf.py` configures Sphinx;
`man_pages` reads man pages, `diagrams` draws what a Git web page draws by itself, and `dead_links`
checks the finished pages.
"""
