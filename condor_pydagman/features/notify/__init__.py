"""NOTIFY: events of a DAG that are handed to programs and URLs."""
