"""One warm process per user that answers for every vault: hooks ask it instead of starting cold."""
