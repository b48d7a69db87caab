"""From an acknowledged memory to a line in its note: the queue, the strategies, the writes."""
