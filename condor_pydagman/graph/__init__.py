"""From the commands of DAG files to a Dag.  Pure; files are read
through a given function.
"""
