"""What may be stored, with which trust, and which files no tool may touch."""
