"""Runs the program of a FEEDER."""
