"""From a host's own record of a conversation to messages."""
