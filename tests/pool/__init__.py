"""Tests on a real personal HTCondor, which the test run starts and stops itself."""
