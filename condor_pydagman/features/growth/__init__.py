"""EXTEND, SCATTER and `condor_pydagman steer add`: a DAG grows while it runs, and lets nodes go."""
