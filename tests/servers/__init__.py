"""Servers on this machine for tests of data placement."""
