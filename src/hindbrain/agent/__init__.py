"""The agent: a command in, a verified result and a better memory out."""
