"""The OpenClaw gateway, reached in three ways: WebSocket, HTTP and its own program."""
