"""The commands on a user's PATH."""
