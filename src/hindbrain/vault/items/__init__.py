"""One memory: a list item with fields and an id, read from a note and written as a line."""
