"""Workflows in the shapes that science runs, for tests and benchmarks."""
