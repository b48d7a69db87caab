"""Agent hosts call us at events of a conversation; one small program answers them all."""
