"""DAG + INPUTS -> ACTIONS: what to do next.  Pure and deterministic:
no clock, no files, no htcondor2.
"""
