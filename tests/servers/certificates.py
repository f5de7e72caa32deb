"""Certificates for servers of tests: an authority, and what it has signed.

They have what RFC 5280 demands, or as old authorities' no Authority Key Identifier.
"""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_SIGNS = x509.KeyUsage(
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)
DAY = datetime.timedelta(days=1)


class Authority:
    """Signs certificates.

    Attributes:
        file: its own certificate.

    Args:
        identifies: whether its certificates have an Authority Key Identifier.
    """

    def __init__(
        self, directory: Path, name: str = "authority", *, identifies: bool = True
    ) -> None:
        self._identifies = identifies
        self._directory = directory
        self._name = _named(name)
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.file = directory / f"{name}.pem"
        usage = x509.BasicConstraints(ca=True, path_length=None)
        builder = self._builder(self._name, self._key).add_extension(usage, critical=True)
        builder = builder.add_extension(_SIGNS, critical=True)
        certificate = builder.sign(self._key, hashes.SHA256())
        self.file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def signed(self, name: str) -> Path:
        """A file with a certificate for a host (or person) of that name, and its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        alternative: x509.GeneralName = x509.DNSName(name)
        if name[0].isdigit():
            alternative = x509.IPAddress(ipaddress.ip_address(name))
        names = x509.SubjectAlternativeName([alternative])
        builder = self._builder(_named(name), key).add_extension(names, critical=False)
        certificate = builder.sign(self._key, hashes.SHA256())
        path = self._directory / f"{name}.pem"
        path.write_bytes(
            certificate.public_bytes(serialization.Encoding.PEM)
            + key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        path.chmod(0o600)
        return path

    def _builder(self, name: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
        own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        builder = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - DAY)
            .not_valid_after(now + DAY)
            .add_extension(own, critical=False)
        )
        return builder.add_extension(signer, critical=False) if self._identifies else builder


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
