"""condor_pydagman: DAGMan, the meta-scheduler of HTCondor, on HTCondor's Python bindings."""

__version__ = "0.1.0"
