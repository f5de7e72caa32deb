"""REPORT <-> TEXT: every file and message format of DAGMan.  Pure."""
