"""Hindbrain: long-term memory for AI agents, kept in its owner's Markdown vault."""

__version__ = "0.1.0"
