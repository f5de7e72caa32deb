"""All tests; tests.make has what many of them need."""
