"""Search: from what somebody asked to the passages that answer it, with the reasons."""
