"""HTCondor releases of a few shell scripts."""

from __future__ import annotations

from pathlib import Path


def make(release: Path, version: str = "25.14.1") -> Path:
    """All of a release that is looked for; it says that it is that version."""
    for name in ("bin/condor_submit", "sbin/condor_master", "libexec/condor_shared_port"):
        (release / name).parent.mkdir(parents=True, exist_ok=True)
        (release / name).touch(mode=0o755)
    for name in ("lib", "share"):
        (release / name).mkdir()
    says = release / "bin/condor_version"
    says.write_text(f"#!/bin/sh\necho '$CondorVersion: {version} 2026-10-16 $'\n")
    says.chmod(0o755)
    return release
