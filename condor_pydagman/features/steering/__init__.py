"""What people ask of a DAG while it runs: of its nodes, and the priority of all its jobs."""
