"""Every error raised on purpose.

    HindbrainError
    ├── UsageError            usage         the caller's arguments are wrong; fix them and retry
    ├── ConfigError           config        a setting is wrong
    ├── NotFound              not_found     no such note, vault, heading, revision, task, memory
    │   └── Ambiguous         ambiguous     several things answer to that name; give one of them
    ├── Refused               refused       a rule that protects the owner forbids it; do not try again
    │   └── NeedsPerson       needs_person  only a person at a terminal may approve it
    ├── VaultAway             vault_away    its disk is not mounted, or another vault is in its place
    ├── VaultError            vault         the vault can't be used as it is
    │   ├── UnsafePath        unsafe_path   a path that leaves the vault, or that some system forbids
    │   ├── NoteUnreadable    unreadable    the note is there and can't be read
    │   └── NoteChanged       conflict      the note is not what the caller read
    ├── WriteFailed           write_failed  the write did not happen; the note is as it was
    │   └── WriteUnknown      write_unknown the system failed while making it durable: read again
    ├── OutputFailed          output_failed the result could not be written to standard output
    ├── Busy                  busy          another process holds the lock; try again
    ├── Cancelled             cancelled     whoever asked for it wants no more of it
    ├── ChannelDown           channel_down  a channel can't be reached now; what is to be sent waits
    ├── IndexFault            index         the index can't be used
    │   ├── IndexMissing      index_missing not made yet, or of an older version: sync
    │   ├── IndexDamaged      index_damaged rebuild it: nothing is lost
    │   └── IndexTooNew       index_too_new made by a newer Hindbrain
    └── ModelError            model         a model's service refused, or answered with what it should not
        ├── ModelDown         model_down    not reachable now; all that needs no model goes on
        └── EmbedderError     embedder      an embedder failed
            ├── EmbedderDown  embedder_down not reachable now; keyword search goes on
            └── EmbedderMismatch  embedder_mismatch  other dimension or model than the index holds

Edges map `code`; nobody parses the text. A message says what happened, to which thing, and what to do next.
"""


class HindbrainError(Exception):
    """Root of every error raised on purpose.

    `advice` is for whoever called, above all a model: "fix" the arguments and retry, try "again" in a moment
    with the same ones, or "stop" and tell the user.
    """

    code = "internal"
    advice = "stop"


class UsageError(HindbrainError):
    code = "usage"
    advice = "fix"


class ConfigError(HindbrainError):
    code = "config"


class NotFound(HindbrainError):
    code = "not_found"
    advice = "fix"


class Ambiguous(NotFound):
    """Several things answer to the name. `candidates` names them, as they can be given instead."""

    code = "ambiguous"

    def __init__(self, message: str, *, candidates: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.candidates = candidates


class Refused(HindbrainError):
    code = "refused"


class NeedsPerson(Refused):
    code = "needs_person"


class VaultError(HindbrainError):
    code = "vault"


class VaultAway(HindbrainError):
    """The vault that belongs to the folder is not there: it could not be looked at."""

    code = "vault_away"


class UnsafePath(VaultError):
    code = "unsafe_path"
    advice = "fix"


class NoteUnreadable(VaultError):
    code = "unreadable"


class NoteChanged(VaultError):
    """The note is not what the caller read. `current_hash` is what is there now ("" when it is gone)."""

    code = "conflict"
    advice = "fix"

    def __init__(self, message: str, *, current_hash: str = "") -> None:
        super().__init__(message)
        self.current_hash = current_hash


class WriteFailed(HindbrainError):
    code = "write_failed"


class WriteUnknown(WriteFailed):
    code = "write_unknown"
    advice = "fix"


class OutputFailed(HindbrainError):
    code = "output_failed"


class Busy(HindbrainError):
    code = "busy"
    advice = "again"


class Cancelled(HindbrainError):
    code = "cancelled"


class ChannelDown(HindbrainError):
    code = "channel_down"
    advice = "again"


class IndexFault(HindbrainError):
    code = "index"


class IndexMissing(IndexFault):
    code = "index_missing"


class IndexDamaged(IndexFault):
    code = "index_damaged"


class IndexTooNew(IndexFault):
    code = "index_too_new"


class ModelError(HindbrainError):
    """`status` is what an HTTP service answered with, 0 if it did not come to that; `said` its own words."""

    code = "model"

    def __init__(self, message: str, *, status: int = 0, said: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.said = said


class ModelDown(ModelError):
    code = "model_down"
    advice = "again"


class EmbedderError(ModelError):
    code = "embedder"


class EmbedderDown(EmbedderError):
    code = "embedder_down"
    advice = "again"


class EmbedderMismatch(EmbedderError):
    code = "embedder_mismatch"
