"""Key pairs that do not change from run to run."""

from __future__ import annotations

from cryptography.hazmat.primitives.asymmetric import ec

from condor_pydagman.adapters import cedar


def key_pair_of(private: int) -> cedar.KeyPair:
    """The key pair with this private scalar."""
    return cedar._pair(ec.derive_private_key(private, ec.SECP256R1()))
