"""Where people and programs come in: thin, and each call goes on to one method of `App`."""
