"""After a run: what happened, written into the notes that tell it."""
