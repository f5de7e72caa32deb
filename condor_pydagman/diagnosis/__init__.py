"""Why a DAG does not go on, or has failed: facts about it in, findings out.

`explain_dag` is the entry; `known_facts` says what must be found out for it.  Pure: what the files,
the schedd and the collector say is collected by `monitor.fact_collection`.
"""
