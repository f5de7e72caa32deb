"""BUNDLE: nodes with short jobs that are run many to a job of HTCondor's."""
