"""BUNDLE."""
