"""Makes the site; any warning, and any link that leads nowhere, is an error.

Use: python -m tools.site [--output DIRECTORY]
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from sphinx.cmd.build import build_main

from tools.site import dead_links, stage

ROOT = Path(__file__).resolve().parents[2]
# The pages have the layout of the repository, so the first one is not at the top.
REDIRECT = """\
<!doctype html>
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=docs/README.html">
<title>condor_pydagman</title>
<a href="docs/README.html">condor_pydagman: documentation</a>
"""


def build(root: Path, output: Path) -> int:
    """Make the site of a checkout in `output`/html; the exit code."""
    source, html, doctrees = output / "source", output / "html", output / "doctrees"
    # Sphinx would take pages of earlier builds for current when only our own code has changed.
    for old in (source, html, doctrees):
        shutil.rmtree(old, ignore_errors=True)
    try:
        stage.fill(root, source)
    except stage.StageError as error:
        print(f"tools/site: {error}", file=sys.stderr)
        return 1
    options = ["-q", "-W", "--keep-going", "-b", "html", "-c", str(root / "docs")]
    failed = build_main([*options, "-d", str(doctrees), str(source), str(html)])
    (html / "index.html").write_text(REDIRECT, "utf-8")
    dead = dead_links.find(html)
    print("".join(f"{line}\n" for line in dead), end="", file=sys.stderr)
    return 1 if failed or dead else 0


def main() -> int:
    """Read the options, and say where the site is."""
    parser = argparse.ArgumentParser(prog="python -m tools.site")
    parser.add_argument("--output", type=Path, default=ROOT / "build/site", metavar="DIRECTORY")
    output = parser.parse_args().output.resolve()
    failed = build(ROOT, output)
    if not failed:
        print(output / "html/index.html")
    return failed


if __name__ == "__main__":
    sys.exit(main())
