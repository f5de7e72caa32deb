"""Evaluates conditions with the ClassAds of HTCondor."""
