"""The settings of a worker that is not a DATA node's, from HTCondor's configuration."""

from __future__ import annotations

from condor_pydagman.config import Config
from condor_pydagman.data_requests.settings import OF_HTCONDOR, Settings, settings_of


def configured_settings() -> Settings:
    """The settings in force; the defaults where there is no HTCondor.

    Raises:
        ConfigError: a knob is wrong.
    """
    try:
        from condor_pydagman.adapters import knobs
    except ImportError:  # no bindings: a transfer needs none
        return settings_of(Config(), {})
    return settings_of(knobs.load(), {name: knobs.lookup(name) or "" for name in OF_HTCONDOR})
