"""What steering does outside of DAGMan."""
