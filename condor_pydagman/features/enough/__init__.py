"""ENOUGH: when so many of some nodes are done, the rest is not needed."""
