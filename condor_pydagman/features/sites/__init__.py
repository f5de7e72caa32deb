"""SITE_GROUP: groups of nodes that run at one site each, found for them while the DAG runs.

A group is matched as a whole when its first node could start.  For the engine: `run`, with the data
in `groups`; `matching`, `policy_checks` and `leaving` are what becomes of a group, `states` and
`rests` are tables.  What looks for sites is in `adapters`; which group gets which, without I/O, in
`choice` (over all DAGs as well), `environment` and `analysis`.
"""
