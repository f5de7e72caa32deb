"""What features that several DAGs share take of files and the queue."""
