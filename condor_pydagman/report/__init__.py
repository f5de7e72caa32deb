"""A run of a DAG as people look at it: one glance in a terminal, a report in HTML, tables.

Pure: what is known of a run in, text out.
"""
