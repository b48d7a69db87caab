"""OpenClaw with a vault as its memory: its plugin, and what puts it there and takes it away again."""
