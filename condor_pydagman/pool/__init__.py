"""A personal HTCondor for people without one: laptops, demos, tests.

`Pool(directory)` is all that others need: `start()`, `stop()`, and for what runs in it
`subprocess.run(pool.command(argv), env=pool.environment())`.
"""

from condor_pydagman.pool.personal import Pool, Status

__all__ = ["Pool", "Status"]
