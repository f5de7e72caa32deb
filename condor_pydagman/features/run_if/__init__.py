"""RUN_IF: a condition decides whether a node runs when its parents have ended."""
