"""COMMANDS -> DAG: what the commands of the DAG files mean.  Pure; files are read
through a given function.
"""
