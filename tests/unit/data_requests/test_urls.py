"""URLs and paths of requests, and how secrets in them are kept out of messages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.data_requests.urls import Url, masked_text, parse_url


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("a b%20#?ü", Url("file", "/d/a b%20#?ü")),
        ("/x/y", Url("file", "/x/y")),
        ("file:/x/a%20b", Url("file", "/x/a b")),
        ("file:///x/a%20b", Url("file", "/x/a b")),
        ("file://localhost/x", Url("file", "/x")),
        ("FILE:x", Url("file", "/d/x")),
        ("http://H.org", Url("http", "/", "h.org")),
        ("http://h?q=1", Url("http", "/", "h", query="q=1")),
        ("http://h:80/a#b?c=%20", Url("http", "/a#b", "h", 80, query="c=%20")),
        ("ftp://u:p%40@h/a?b", Url("ftp", "/a?b", "h", 0, "u", "p@")),
        ("root://[::1]:1094//a", Url("root", "//a", "::1", 1094)),
        ("s3://bucket/a/", Url("s3", "/a/", "bucket")),
        ("nest:x", Url("file", "/d/nest:x")),
    ],
)
def test_parts(text: str, url: Url) -> None:
    read = parse_url(text, "/d")
    assert tuple(read) == tuple(url)
    assert tuple(parse_url(read.with_secrets(), "/d")) == tuple(url)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is empty"),
        ("a\0b", "zero byte"),
        ("sftp://h/a%00b", "zero byte"),
        ("a\ud800", "no text"),
        ("http://h/a\ud800", "no text"),
        ("http://", "no host"),
        ("http:///a", "no host"),
        ("http://h:99999/", "no port"),
        ("http://[::1/", "is no host"),
        ("http://a b/", "is no host"),
        *((f"http://h{mark}.example.org/", "is no host") for mark in '#%\\<>^|"{}\t\x7f'),
        *((f"ftp://h{mark}x/", "is no host") for mark in "#?%"),
        ("file://host/a", "another machine"),
        ("http:/h/a", "write http:// with two slashes"),
    ],
)
def test_what_is_no_url(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_url(text)


def test_parts_of_a_path() -> None:
    url = parse_url("http://h/a/b.txt")
    assert (url.name, url.is_directory, url.server) == ("b.txt", False, "h")
    assert str(url.sibling("c")) == "http://h/a/c"
    assert str(parse_url("http://h/a/").child("b/c")) == "http://h/a/b/c"


def test_secrets_are_masked() -> None:
    url = parse_url("http://me:geheim@h/a?token=geheim&x=1")
    for text in (str(url), repr(url), masked_text(f"curl {url.with_secrets()} failed")):
        assert "geheim" not in text
        assert "x=1" in text
    assert "geheim" not in masked_text("header Authorization: Bearer geheim")
    assert "geheim" not in masked_text("?X-Amz-Signature=geheim&y")
    assert masked_text("?pwd=x&auth=x&jwt=x&author=x") == "?pwd=***&auth=***&jwt=***&author=x"
    for secret in ("ge/heim", "1geheim/x", "ge:heim/@x"):
        text = f"ftp://me:{secret}@h/a"
        assert masked_text(f"get {text} now") == "get ftp://***@h/a now"
        with pytest.raises(ValueError, match="is written %2F") as error:
            parse_url(text)
        assert "ge" not in str(error.value).replace("%2F", "")
    assert masked_text("http://h:80/a@b http://h/a:b@c") == "http://h:80/a@b http://h/a:b@c"
    assert masked_text("mail me@example.org") == "mail me@example.org"


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), min_size=1))
def test_a_path_survives_its_url(path: str) -> None:
    url = Url("file", "/" + path)
    assert parse_url(url.with_secrets()) == url


@pytest.mark.parametrize("text", ["osdf:///ns/a%20b?x=1", "osdf://ns/a%20b?x=1"])
def test_a_federation_of_its_own_has_no_host(text: str) -> None:
    url = parse_url(text)
    assert (url.path, url.host, url.server, url.query) == ("/ns/a b", "", "", "x=1")
    assert not url.is_local
    assert url.with_secrets() == "osdf:///ns/a%20b?x=1"
    assert parse_url("pelican://fed:8443/ns/a?x=1")[:4] == ("pelican", "/ns/a", "fed", 8443)
