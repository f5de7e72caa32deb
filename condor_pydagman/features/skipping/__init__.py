"""Nodes that are done without having run, for RUN_IF and ENOUGH; their children may follow."""
