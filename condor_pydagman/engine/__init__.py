"""The engine: from a DAG and inputs to the actions that are due.  Pure and deterministic:
no clock, no files, no htcondor2.
"""
