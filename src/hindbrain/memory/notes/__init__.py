"""Whole notes: reading, writing, filing, linking and linting them for agents and their owner."""
