"""The DAG language: from the text of DAG files to commands, and back.  Pure."""
