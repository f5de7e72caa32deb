"""DAGs made by Python programs: `Workflow` (docs/python.md).

A Workflow holds what a program has said, in the program's order, and writes it as a DAG file.  What
is wrong is found by the parser and the builder that DAGMan itself reads DAG files with; `places`
leads from a line of the file back to the line of the program.
"""
