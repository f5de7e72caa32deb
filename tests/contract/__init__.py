"""What the engine relies on, asked of the real adapters and of the simulator's fakes alike.

A contract is a class of tests; each side has a thin driver.  The real schedd needs the pool, so its
side is in tests/pool/test_schedd_contract.py.
"""
