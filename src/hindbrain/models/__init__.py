"""What talks to models: embedders, the one HTTP client they share, and the fakes that ship beside them.

Knows nothing of notes, chunks or the index. Nothing heavy is imported before an embedder is used.
"""
