"""Where the capture keeps things in a vault's state folder, beside the spool and the cursors."""

ASIDE = "capture-aside"  # events that could not be dealt with
LOCK = "capture.lock"
