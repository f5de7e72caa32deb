"""What makes the environment and the generated files: `python -m tools.NAME`."""
