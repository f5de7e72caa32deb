"""Changes the package at random places, and counts which of these changes the tests notice."""
