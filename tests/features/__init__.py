"""Tests of features: a folder for each, with its part of the simulator."""
