"""FEEDER: a program that is run when few nodes are left, and whose output is added to the DAG."""
