"""What makes the environment, the recordings of stock, and the generated files (`generate`)."""
