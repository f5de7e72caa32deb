"""How the certificates of servers are checked, on every Python in the same way.

Python 3.13 began to insist on all of RFC 5280 (VERIFY_X509_STRICT), so that it refuses certificates
without an Authority Key Identifier, which authorities of sites still issue; and to trust an
intermediate authority alone (VERIFY_X509_PARTIAL_CHAIN).  We do as the Pythons before it, and as
curl: signatures, dates, names, and a chain up to a root that is trusted.
"""

from __future__ import annotations

import ssl


def client_context() -> ssl.SSLContext:
    """A context of the authorities that the system, or SSL_CERT_FILE and SSL_CERT_DIR, name."""
    context = ssl.create_default_context()
    context.verify_flags = ssl.VERIFY_X509_TRUSTED_FIRST
    return context
