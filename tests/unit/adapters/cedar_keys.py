"""What stock clients and a stock server have said (cedar_samples.json), and the keys of then."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec

from condor_pydagman.adapters import cedar
from condor_pydagman.adapters.control_socket import Conversation, Server

SAMPLES = json.loads((Path(__file__).parent / "cedar_samples.json").read_text())
VERSION = "$CondorVersion: 25.14.1 2026-09-24 BuildID: UW_Python_Wheel_Build $"


def key_pair_of(private: int) -> cedar.KeyPair:
    """The key pair with this private scalar."""
    return cedar._pair(ec.derive_private_key(private, ec.SECP256R1()))


def sent(how: str) -> list[bytes]:
    """What a stock client sent, turn by turn."""
    return [bytes.fromhex(data) for who, data in SAMPLES[how]["exchange"] if who == "client"]


def talk(how: str, **more: Any) -> Conversation:
    """A server that answers as it did then, by its key as well."""
    sample = SAMPLES[how]
    said = b"".join(bytes.fromhex(data) for who, data in sample["exchange"] if who == "server")
    found = said.partition(b"/tmp/FS_")[2].partition(b"_\0")[0].decode()
    directory = f"/tmp/FS_{found}_"
    private = int(sample["private"] or "0", 16)
    known = {
        "version": VERSION,
        "domain": "vm",
        "hosts": frozenset(["127.0.0.1", "fd00::2"]),
        "port": int(sample["address"].split("?")[0].strip("<>").rpartition(":")[2]),
        "new_directory": lambda: directory,
        "is_proof": lambda path: path.startswith(directory),
        "new_key": lambda: key_pair_of(private),
    }
    return Conversation(Server(**{**known, **more}))
