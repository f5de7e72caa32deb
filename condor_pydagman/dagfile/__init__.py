"""TEXT -> COMMANDS: the DAG language.  Pure."""
