"""What every long-running edge shares: a thread that owns a warm `App`, and one that keeps its index."""
