"""Workflows in the shapes that science runs, for tests: make one, write it down, check its run."""
