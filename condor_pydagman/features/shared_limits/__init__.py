"""SHARED_LIMIT: limits that DAGs share, and the pace of their PRE scripts after a restart."""
