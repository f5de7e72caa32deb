"""Kills and disturbs DAGMans on a real pool many times; counts jobs lost or run twice.

One command: `python -m tests.torture.run`.
"""
