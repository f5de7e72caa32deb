"""Limits that many DAGs share, without I/O: their definitions, what each DAGMan has taken of them
and waits for, and who gets how much.  `limit_claims` has the directory in which all that is kept.
"""
