"""What several features need, and neither the core nor the commands of the stock program."""
