"""The screen, the mouse and the keyboard of this machine, where there are some."""
