"""What has happened in a run of a DAG: its events, and the attempts of its nodes.

Read from the nodes log, which both DAGMans write, and from those lines of `.dagman.out` that tell
what the log does not: PRE scripts, halts, the start and the end.  Pure: text in, values out.
"""
