"""Tests of the page of `condor_pydagman web` in a browser, against a small server."""
