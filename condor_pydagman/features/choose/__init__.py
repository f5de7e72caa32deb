"""CHOOSE: a run of some of the nodes of a DAG."""
