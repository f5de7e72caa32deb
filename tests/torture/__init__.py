"""Kills and starves a DAGMan on a real pool, many times; counts what was lost or run twice.

One command: `python -m tests.torture.run`.
"""
