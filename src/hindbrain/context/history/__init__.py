"""What stays of a conversation in a window: counted, trimmed, and condensed when it grows too long."""
