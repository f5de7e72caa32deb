"""CACHE: nodes that do not run if nothing has changed since they were last done."""
