"""Keeps what is added to a DAG on the disk."""
