"""What is installed beside the package; all else is in setup.cfg.

It stands here, since the setuptools of Enterprise Linux 9 knows no patterns in setup.cfg.

A wheel or an installation is built in a directory of its own, which is removed again: what another
build has left in `build/` holds the path of that one's Python, and modules that are no more.

With CONDOR_PYDAGMAN_WAITER=1 in the environment the program is built that a DAGMan becomes while it
sleeps (`condor_pydagman/daemon/sleep.py`).

With CONDOR_PYDAGMAN_COMPILE=1 in the environment the engine is compiled as well (see
`condor_pydagman/compiled.py`); that needs a C compiler.
"""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from glob import glob

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from condor_pydagman import compiled
from tools.index_page import for_an_index

DOC = "share/doc/condor_pydagman"
PLACES = {
    "share/man/man1": "man/*.1",
    "share/man/man5": "man/*.5",
    "share/man/man7": "man/*.7",
    "share/bash-completion/completions": "share/bash-completion/completions/*",
    "share/zsh/site-functions": "share/zsh/site-functions/*",
    "share/fish/vendor_completions.d": "share/fish/vendor_completions.d/*",
    DOC + "/docs": "docs/*.md",
    DOC + "/docs/how-to": "docs/how-to/*.md",
    DOC + "/docs/charts": "docs/charts/*",
    DOC + "/docs/pictures": "docs/pictures/*",
    DOC + "/condor_config.d": "etc/condor_config.d/*",
    DOC + "/examples/diamond": "examples/diamond/*",
    DOC + "/examples/feeder": "examples/feeder/*",
    DOC + "/examples/montage": "examples/montage/*",
    DOC + "/examples/sweep": "examples/sweep/*",
}

FILES = {place: sorted(glob(pattern)) for place, pattern in PLACES.items()}
# The licence is in the metadata.
FILES[DOC] = ["CHANGES.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"]

WHOLE = {"bdist", "bdist_wheel", "install"}  # commands that build by themselves


def build_options():
    """Where to build, and all of it.

    Whoever builds and installs in two steps, as packages of distributions do, has it in `build/`.
    """
    options = {"force": True}
    if WHOLE & set(sys.argv) and not {"build", "--skip-build"} & set(sys.argv):
        options["build_base"] = tempfile.mkdtemp(prefix="condor_pydagman-build-")
        atexit.register(shutil.rmtree, options["build_base"], ignore_errors=True)
    return options


BUILD = build_options()
OPTIONS = {"options": {"build": BUILD}}

if os.environ.get("CONDOR_PYDAGMAN_COMPILE") == "1":
    OPTIONS["setup_requires"] = ["mypy >=1.8, <3"]
    if (WHOLE | {"build", "build_ext"}) & set(sys.argv):
        from mypyc.build import mypycify

        sources = [f"condor_pydagman/engine/{name}.py" for name in compiled.MODULES]
        OPTIONS["ext_modules"] = mypycify(
            ["--follow-imports=silent", *sources],
            group_name="condor_pydagman",
            opt_level="3",
            target_dir=BUILD.get("build_base", "build"),
            debug_level="0",
        )


class WithWaiter(build_py):
    """Builds the waiter beside the modules."""

    def run(self):
        """Build all."""
        super().run()
        place = os.path.join("condor_pydagman", "libexec")
        in_place = getattr(self, "editable_mode", False)  # which old versions do not have
        made = place if in_place else os.path.join(self.build_lib, place)
        os.makedirs(made, exist_ok=True)
        words = [os.environ.get("CC", "cc"), "-Os", "-s", os.path.join(place, "condor_dagman.c")]
        subprocess.run([*words, "-o", os.path.join(made, "condor_dagman")], check=True)


class ForThisMachine(Distribution):
    """A wheel that holds a program of this machine's."""

    def has_ext_modules(self):
        """Whether it is for one kind of machine."""
        return True


if os.environ.get("CONDOR_PYDAGMAN_WAITER") == "1":
    OPTIONS["cmdclass"] = {"build_py": WithWaiter}
    OPTIONS["distclass"] = ForThisMachine

with open("README.md", encoding="utf-8") as page:
    README = for_an_index(page.read())

setup(
    long_description=README,
    data_files=[(place, files) for place, files in FILES.items() if files],
    **OPTIONS,
)
