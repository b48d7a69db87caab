"""The files of a vault: safe paths, scan, parse, write. Knows nothing of the index or of models."""
