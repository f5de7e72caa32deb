"""What SITE_POLICY lines say, and back."""

from __future__ import annotations

from condor_pydagman.features.sites.commands import NO_POLICY, SitePolicy

SAID = [
    ("ATTRIBUTE", ("WANT_X", "true")),
    ("ATTRIBUTE", ("Size", "3")),
    ("ATTRIBUTE", ("want_x", "false")),
    ("REQUIREMENTS", "TARGET.Is_X_Site =?= true"),
    ("RANK", "-CurMatches"),
    ("WAIT", 3600),
    ("IDLE", 60),
    ("HELD", 61),
    ("GONE", 62),
    ("FAILURES", 3),
    ("REMATCH_IF", "TARGET.Bad"),
    ("ROUNDS", 2),
    ("CLEAN_UP", ("clean", 100)),
    ("REMOVAL", 63),
    ("OLD_SITE", "NEVER"),
]
POLICY = SitePolicy(
    "TARGET.Is_X_Site =?= true",
    "-CurMatches",
    (("Size", "3"), ("want_x", "false")),
    *(3600, 60, 61, 62, 3, "TARGET.Bad", 2, "clean", 100, 63, "NEVER"),
)


def said(lines: list[tuple[str, object]]) -> SitePolicy:
    policy = NO_POLICY
    for key, value in lines:
        policy = policy.said(key, value)
    return policy


def test_lines_make_a_policy() -> None:
    assert said(SAID) == POLICY


def test_a_policy_makes_lines() -> None:
    assert said(POLICY.lines()) == POLICY
    assert NO_POLICY.lines() == []
