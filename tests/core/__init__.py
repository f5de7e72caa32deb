"""DAGMan alone: the package without features, readers, page, placement and Python interface."""
