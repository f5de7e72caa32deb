"""Why a DAG does not go on, or has failed: facts about it in, findings out.

`explain_dag` is the entry; `Facts` says what must be found out for it.  Pure but for
`fact_collection`, which collects what the files, the schedd and the collector say, and the modules
that it needs for that.
"""
