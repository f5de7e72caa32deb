"""TIMEOUT: jobs that wait, run or live longer than their node allows."""
