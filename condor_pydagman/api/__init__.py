"""The supported Python interface, which `condor_pydagman` itself exports (docs/python.md).

Its modules are imported when one of their names is first asked for, so that no command pays for
them.  What other modules of the package hold is no interface and may change at any time.
"""
