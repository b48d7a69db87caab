"""Daily notes: sessions and events."""
