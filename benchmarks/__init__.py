"""Figures of our DAGMan beside the stock one and the bare bindings: see `run`."""
