"""Tests of what writes docs/versions.md."""
