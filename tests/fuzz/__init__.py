"""A fuzzer of DAG files: whatever is in them, there is a Dag or an error with a place in a file."""
