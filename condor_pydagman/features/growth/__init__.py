"""EXTEND, SCATTER and `condor_pydagman grow`: a DAG grows while it runs, and lets go of nodes."""
