"""Text of request files to ads, however it is written."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.data_requests.request_ads import RequestText, is_submit_file, read_ads
from condor_pydagman.errors import DagFileError


def test_which_files_are_submit_files() -> None:
    assert is_submit_file("executable = /bin/true\n")
    assert is_submit_file("universe = vanilla\n  Queue 3\n")
    assert is_submit_file("QUEUE")
    assert is_submit_file("universe = vanilla\niter 3\n")
    assert not is_submit_file("dap_type = transfer\nsrc_url = queue\n")
    assert not is_submit_file("[ queue = 3 ]")
    assert not is_submit_file("")


@given(st.text(st.sampled_from('[]{};=",\\ \n\tab#/*$()'), max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        ads = list(read_ads(RequestText(text, "x")))
    except DagFileError as error:
        assert error.detail()
        return
    for ad in ads:
        for key, value in ad.items():
            assert text[value.key_at :].lower().startswith(key)


NAMES = st.from_regex(r"[a-z]\w{0,8}", fullmatch=True)


@given(
    st.lists(st.tuples(NAMES, st.text(max_size=20)), unique_by=lambda pair: pair[0].lower()).map(
        dict
    )
)
def test_what_is_written_is_read(values: dict[str, str]) -> None:
    quoted = {
        key: text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\0", "")
        for key, text in values.items()
    }
    body = ";\n".join(f'{key} = "{text}"' for key, text in quoted.items())
    found = list(read_ads(RequestText(f"[ {body} ]", "x")))
    assert len(found) == 1
    assert {key: value.value for key, value in found[0].items()} == {
        key.lower(): text.replace("\0", "") for key, text in values.items()
    }
