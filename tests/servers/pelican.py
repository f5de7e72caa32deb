"""A federation of Pelican's on this machine: discovery and director in one, and a cache with files.

It speaks https with a certificate of an authority of its own, since discovery knows nothing else.
"""

from __future__ import annotations

import contextlib
import json
import ssl
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from tests.servers.certificates import Authority
from tests.servers.faulty_http import FaultyServer, Wrong, serving

TOKEN = "geheimnis"  # that files below /private need
DISCOVERY = "/.well-known/pelican-configuration"


class Federation(FaultyServer):
    """The director.

    Attributes:
        authority: who signs certificates.
        cache: the server with the files.
    """

    def __init__(self, authority: Authority, cache: FaultyServer) -> None:
        super().__init__()
        self.authority, self.cache = authority, cache
        found = {"director_endpoint": f"https://{self.place}/"}
        self.files[DISCOVERY] = json.dumps(found).encode()

    def next_wrong(self, path: str) -> Wrong:
        """Where the file is, and what its namespace needs."""
        if path == DISCOVERY:
            return Wrong()
        top = "/" + path.split("/")[1]
        needs = str(top == "/private").lower()
        place = f"https://{self.cache.place}"
        headers = {
            "Location": place + quote(path),
            "Link": f'<{place}{quote(path)}>; rel="duplicate"; pri=1; depth=1',
            "X-Pelican-Namespace": f"namespace={top}, require-token={needs},"
            f" collections-url={place}",
        }
        return Wrong(status=307, headers=tuple(headers.items()))


@contextlib.contextmanager
def federation(directory: Path) -> Iterator[Federation]:
    """A director that answers, and its cache."""
    authority = Authority(directory)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority.signed("127.0.0.1"))
    with serving(FaultyServer()) as cache, serving(Federation(authority, cache)) as director:
        for one in (cache, director):
            one.encrypt(context)
        cache.password, cache.private = f"Bearer {TOKEN}", "/private/"
        yield director
