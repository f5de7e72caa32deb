"""What is installed beside the package; all else is in setup.cfg.

It stands here, since the setuptools of Enterprise Linux 9 knows no patterns in setup.cfg.

A wheel or an installation is built in a directory of its own, which is removed again: what another
build has left in `build/` holds the path of that one's Python, and modules that are no more.

The program that a DAGMan becomes while it sleeps (`condor_pydagman/daemon/sleep.py`) is built where
there is a C compiler; CC, CPPFLAGS, CFLAGS and LDFLAGS are obeyed.  With CONDOR_PYDAGMAN_WAITER=1
in the environment it is an error if it can't be built; with 0 it is left out, and a wheel is pure.

With CONDOR_PYDAGMAN_COMPILE=1 in the environment the engine is compiled as well (see
`condor_pydagman/compiled.py`); that needs a C compiler.
"""

import atexit
import contextlib
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from glob import glob

from setuptools import setup
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
    DOC + "/monitoring": "share/monitoring/*",
    DOC + "/examples/diamond": "examples/diamond/*",
    DOC + "/examples/feeder": "examples/feeder/*",
    DOC + "/examples/montage": "examples/montage/*",
    DOC + "/examples/sweep": "examples/sweep/*",
}

FILES = {place: sorted(glob(pattern)) for place, pattern in PLACES.items()}
# The licence is in the metadata.
FILES[DOC] = ["CHANGES.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"]

WHOLE = {"bdist", "bdist_wheel", "install"}  # commands that build by themselves
PROGRAMS = os.path.join("condor_pydagman", "libexec")


def scratch_directory():
    """A directory that is removed at the end."""
    made = tempfile.mkdtemp(prefix="condor_pydagman-build-")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def build_options():
    """Where to build, and all of it.

    Whoever builds and installs in two steps, as packages of distributions do, has it in `build/`.
    """
    options = {"force": True}
    if WHOLE & set(sys.argv) and not {"build", "--skip-build"} & set(sys.argv):
        options["build_base"] = scratch_directory()
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


def given(name, otherwise):
    """The words of a variable of the environment."""
    return shlex.split(os.environ.get(name) or otherwise)


def build_waiter():
    """Build the program that a DAGMan becomes while it sleeps, before it is decided which machines
    a wheel is for; returns its path, or "" without it."""
    wish = os.environ.get("CONDOR_PYDAGMAN_WAITER")
    if wish == "0" or not (WHOLE | {"build", "build_py", "editable_wheel"}) & set(sys.argv):
        return ""
    made = os.path.join(scratch_directory(), "condor_dagman")
    words = [*given("CC", "cc"), *given("CPPFLAGS", ""), *given("CFLAGS", "-Os")]
    words += [os.path.join(PROGRAMS, "condor_dagman.c"), "-o", made, *given("LDFLAGS", "-s")]
    try:
        subprocess.run(words, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        if wish == "1":
            sys.exit(f"CONDOR_PYDAGMAN_WAITER=1, but the waiter can't be built: {error}")
        print(f"DAGMan won't be able to sleep, since its waiter can't be built: {error}")
        return ""
    return made


class WithWaiter(build_py):
    """Puts the waiter beside the modules, if there is one."""

    def run(self):
        """Build all."""
        super().run()
        made = self._place()
        with contextlib.suppress(FileNotFoundError):  # it may be that of another version, and run
            os.unlink(made)
        if WAITER:
            os.makedirs(os.path.dirname(made), exist_ok=True)
            shutil.copy(WAITER, made)

    def get_outputs(self, include_bytecode=1):
        """What is installed, for whoever removes it again."""
        made = self._place()
        return super().get_outputs(include_bytecode) + [made] * os.path.exists(made)

    def _place(self):
        in_place = getattr(self, "editable_mode", False)  # which old versions do not have
        return os.path.join("" if in_place else self.build_lib, PROGRAMS, "condor_dagman")


WAITER = build_waiter()
if WAITER:  # of its machine's kind, but of every Python's
    OPTIONS["options"]["bdist_wheel"] = {"plat_name": sysconfig.get_platform()}

with open("README.md", encoding="utf-8") as page:
    README = for_an_index(page.read())

setup(
    long_description=README,
    data_files=[(place, files) for place, files in FILES.items() if files],
    cmdclass={"build_py": WithWaiter},
    **OPTIONS,
)
