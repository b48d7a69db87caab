"""What a conversation is about: what a prompt asks, when the topic changes, what was injected for it."""
