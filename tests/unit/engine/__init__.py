"""Tests of the engine: feed inputs, compare actions; every invariant is recounted after each."""
