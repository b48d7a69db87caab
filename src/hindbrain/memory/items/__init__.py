"""A memory as a line in a note: how it is read, written, changed and found again."""
