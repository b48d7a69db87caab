"""The MCP server: memory for any host that speaks the Model Context Protocol, over stdio or loopback HTTP."""
