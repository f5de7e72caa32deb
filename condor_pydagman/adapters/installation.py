"""What has installed this program: pip, or a package of a distribution."""

from __future__ import annotations

import os
import sys

import condor_pydagman

# From the package to where the packages of distributions have the commands.
PACKAGED = "../../../condor_pydagman/bin"


def packaged_commands() -> str:
    """Where a distribution's package has put the commands; '' if it was not one of these."""
    place = os.path.normpath(os.path.join(condor_pydagman.__path__[0], PACKAGED))
    return place if os.path.isdir(place) else ""


def to_install(package: str) -> str:
    """What a person does to get a Python package that this program lacks.

    Not by the name of an extra: pip would look for this program in an index to install it again.
    """
    if packaged_commands():
        return f"install your distribution's package python3-{package}"
    return f"{sys.executable} -m pip install {package}"
