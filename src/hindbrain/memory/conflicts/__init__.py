"""What a new memory means beside those that are there: the same, the contrary, or something else."""
