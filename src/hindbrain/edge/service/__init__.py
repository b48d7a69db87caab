"""The local HTTP service for plugins of agent hosts: memory and context of a vault, as JSON on loopback."""
