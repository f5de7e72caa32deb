"""The reader of a DAG: its files, followed as they grow, and DAGMan's job in the schedd.

What the tools show, explain and report, and what the Python interface gives, comes from here.
"""
