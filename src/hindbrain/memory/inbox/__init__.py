"""What waits for a person's word."""
