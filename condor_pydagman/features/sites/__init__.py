"""SITE_GROUP: groups of nodes that run at one site each, found for them while the DAG runs.

A group is matched as a whole when its first node could start.  For the engine: `run`, with the data
in `groups`; `matching`, `policy_checks` and `leaving` are what becomes of a group, `states` and
`rests` are tables.  What looks for sites: `matcher`, with the collector's `ads`, the rules in
`policy`, `choice` and `evaluation`, and the claims of all DAGMans in `claims_directory`.  For those
who have sites: `files`, `probe` and `monitor` publish them, `overview` shows them.
"""
