"""Our condor_dagman with faults in it, for the torture test: see `inject.py`."""
