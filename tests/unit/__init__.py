"""Tests of one module each, in the same tree as the package."""
