"""The file in which DAGMan tells the worker of a DATA node what to do.

It holds the text of the request as it was when the node was submitted, so that a later change of
the file does not matter, and the credentials of DAGMan's environment; only its owner can read it.
The job's ad and its command line have nothing but the name of this file.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from typing import Any
from urllib.parse import quote

from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.named_tuple import NamedTuple

VERSION = 1
# Variables in the environment of a FINAL node's worker: that it is one, and DAG_STATUS.
FINAL, FINAL_STATUS = "PYDAGMAN_FINAL_NODE", "PYDAGMAN_FINAL_NODE_DAG_STATUS"
MAX_NAME = 120  # characters of a node's name in names of its files

# Variables that modules, plugins and libraries find credentials and servers with.
PASSED_ON = (
    *("X509_USER_PROXY", "X509_USER_CERT", "X509_USER_KEY", "X509_CERT_DIR", "SSL_CERT_FILE"),
    *("SSL_CERT_DIR", "CURL_CA_BUNDLE"),
    *("BEARER_TOKEN", "BEARER_TOKEN_FILE", "XDG_RUNTIME_DIR", "_CONDOR_CREDS"),
    *("KRB5CCNAME", "SSH_AUTH_SOCK", "HOME", "USER", "LOGNAME", "PATH", "LANG", "LC_ALL", "TZ"),
    *("http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy"),
    *("HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY", "CONDOR_CONFIG"),
)
PASSED_ON_BEGINNINGS = ("AWS_", "GOOGLE_", "AZURE_", "S3_", "XRD_", "GFAL_", "_CONDOR_PYDAGMAN_")


class WorkOrder(NamedTuple):
    """What the worker of a DATA node is to do."""

    token: str  # another one for each submission of the node
    # as in the nodes log
    node: str
    retry: int
    name: str  # of the request file, for messages
    text: str  # of the request file
    macros: Mapping[str, str]  # for its values
    directory: str  # absolute; where relative paths begin
    nodes_log: str  # absolute path; '' for none
    environment: Mapping[str, str]  # variables, credentials among them
    settings: Settings  # the knobs
    left: Mapping[str, float] = {}  # when nodes left a site, for what releases

    def to_text(self) -> str:
        """Text of the file."""
        fields = {"version": VERSION, **self._asdict(), "settings": self.settings._asdict()}
        return json.dumps(fields) + "\n"


class Ended(NamedTuple):
    """What a work order becomes when it has been carried out: the secrets are gone from it.

    A worker that is started once more, because its end was not noted, ends with the same code.
    """

    exit_code: int

    def to_text(self) -> str:
        """Text of the file."""
        return json.dumps({"version": VERSION, **self._asdict()}) + "\n"


def parse_work_order(text: str) -> WorkOrder | Ended:
    """Read it back.

    Raises:
        ValueError: it is damaged, or of another version of this program.
    """
    try:
        fields = json.loads(text)
        version = fields.pop("version")
        if version != VERSION:
            raise ValueError(f"it is of version {version}, this program knows version {VERSION}")
        if "exit_code" in fields:
            return Ended(int(fields["exit_code"]))
        settings = {key: _tuples(value) for key, value in fields.pop("settings").items()}
        return WorkOrder(settings=Settings(**settings), **fields)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"it is damaged ({error})") from None


def file_stem(node: str) -> str:
    """The name of a node as the beginning of file names; no two nodes have the same."""
    name = quote(node, safe=" ,+=@", errors="surrogateescape").replace(" ", "_-")
    if len(name) <= MAX_NAME and not name.startswith("."):
        return name
    import hashlib  # seldom needed

    digest = hashlib.sha256(node.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return f"{name[:MAX_NAME].lstrip('.')}~{digest}"


def passed_on(environment: Mapping[str, str], named: Container[str] = ()) -> dict[str, str]:
    """The variables of DAGMan's environment that a worker gets: those that it may need for
    credentials and servers, and those that its request has `named`."""
    return {
        name: value
        for name, value in environment.items()
        if name in PASSED_ON or name in named or name.startswith(PASSED_ON_BEGINNINGS)
    }


def _tuples(value: Any) -> Any:
    """Lists of JSON as the tuples that they were."""
    return tuple(_tuples(one) for one in value) if isinstance(value, list) else value
