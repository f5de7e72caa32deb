"""DATA: nodes that move data, which is the work of a program beside DAGMan."""
