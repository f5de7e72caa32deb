"""Scenes: a DAG, what happens to it, and what the engine does then; `README.md` has the format."""
