"""What a page of the documentation asks its reader to do."""

from __future__ import annotations

from pathlib import Path

from tests.pages import Command, File, steps_of

PAGE = """\
Save this as `a.sub`, a description:

```
executable = a
```

```python
print("no file, no command")
```

And this:

```console
$ first --now
one 1.5 s
...
two
$ second
```
"""


def test_files_and_commands_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "p.md").write_text(PAGE)
    assert list(steps_of(tmp_path / "p.md")) == [
        File("a.sub", "executable = a\n"),
        Command("first --now", ["one 1.5 s", "...", "two"]),
        Command("second", []),
    ]


def test_what_the_output_lacks() -> None:
    command = Command("c", ["one 1.5 s", "...", "two"])
    assert command.missing("zero\none 27 s\nmore\ntwo \nthree\n") == ""
    assert command.missing("two\none 27 s\n") == "two"
    assert command.missing("") == "one 1.5 s"
