"""What the commands that let the agent work share: telling, asking, ending; and taking commands of others."""
