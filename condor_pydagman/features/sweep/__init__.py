"""SWEEP and SWEEP_PARENT: many nodes, and the edges between them, from one line each."""
