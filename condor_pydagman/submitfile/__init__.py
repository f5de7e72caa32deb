"""The text of submit descriptions: commands, macros, and what HTCondor warns of."""
