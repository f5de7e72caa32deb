"""Kinds of faults and exit codes."""

from __future__ import annotations

from condor_pydagman.data_requests.faults import SEVERAL_EXIT_CODE, Fault, FaultKind, exit_code


def test_exit_codes_tell_the_kind() -> None:
    codes = [kind.exit_code for kind in FaultKind]
    assert len(set(codes)) == len(codes)
    assert min(codes) >= 10
    assert SEVERAL_EXIT_CODE not in codes
    assert exit_code(set()) == 0
    assert exit_code({FaultKind.MISSING}) == 12
    assert exit_code({FaultKind.MISSING, FaultKind.DENIED}) == SEVERAL_EXIT_CODE


def test_a_fault_is_transient_as_its_kind_is() -> None:
    assert Fault(FaultKind.SERVER, "x").transient
    assert not Fault(FaultKind.MISSING, "x").transient
    assert not Fault(FaultKind.SERVER, "x", transient=False).transient


def test_a_reason_is_no_longer_than_a_person_reads() -> None:
    assert len(Fault(FaultKind.SERVER, "x" * 100_000).reason) < 3000
