"""What is installed beside the package; all else is in setup.cfg.

It stands here, since the setuptools of Enterprise Linux 9 knows no patterns in setup.cfg.
"""

from glob import glob

from setuptools import setup

DOC = "share/doc/condor_pydagman"
PLACES = {
    "share/man/man1": "man/*.1",
    "share/man/man5": "man/*.5",
    "share/man/man7": "man/*.7",
    "share/bash-completion/completions": "share/bash-completion/completions/*",
    "share/zsh/site-functions": "share/zsh/site-functions/*",
    "share/fish/vendor_completions.d": "share/fish/vendor_completions.d/*",
    DOC + "/docs": "docs/*.md",
    DOC + "/docs/charts": "docs/charts/*",
    DOC + "/condor_config.d": "etc/condor_config.d/*",
    DOC + "/examples/diamond": "examples/diamond/*",
}

FILES = {place: sorted(glob(pattern)) for place, pattern in PLACES.items()}
FILES[DOC] = ["CHANGES.md", "CONTRIBUTING.md", "LICENSE", "README.md"]

setup(data_files=[(place, files) for place, files in FILES.items() if files])
