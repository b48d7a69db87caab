"""What leaves a conversation: transcripts are read from where they were left, what matters is stored."""
