"""Reads what nodes publish."""
