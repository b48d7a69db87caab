"""What a scan found, and what its silence about a note means.

Values and pure functions. Knows nothing of how folders are read; `scan` fills these in.

A note that is absent from a scan is not thereby deleted. It is *deleted* only when the folder that held it
was read, it was not there, and nothing about the vault looks wrong. It is *unseen* when we could not look,
*excluded* when a rule left it out, *moved* when the very same file now stands elsewhere.
"""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from hindbrain.vault.path_rules import NotePath

Reason = Literal[
    "conflict_copy",  # of a sync tool, and the original is there
    "temporary",  # of an editor or a sync tool
    "placeholder",  # the content is in the cloud, not on this disk
    "truncated",  # had content, was emptied within the last minute: perhaps half synced
    "unreadable",  # the system refused; the detail is its answer
    "not_a_file",  # a FIFO, socket or device with a note's name
    "symlink_outside",
    "symlink_private",  # into a folder that is not for notes
    "broken_symlink",
    "duplicate_link",  # leads to what is found under its own name (loops too)
    "unsafe_name",  # see path_rules
    "name_collision",  # the same path as another file, in another Unicode form
]
NoticeReason = Literal[
    "too_large",  # only the head is indexed
    "too_many_passages",  # what is beyond 20,000 of them is found only roughly
    "unportable_name",  # other systems forbid it
    "lone_conflict_copy",  # looks like a conflict copy, yet there is no original
    "possible_copy",  # "name 2.md" beside "name.md"
    "ignore_file",  # a .gitignore or .obsidianignore that was not fully taken
]
Rule = Literal[
    "templates_folder",  # see the setting vault.templates
    "excluded",  # by the owner's settings
    "ignore_rule",  # by a .gitignore or .obsidianignore
]
AttachmentKind = Literal["pdf", "image", "audio", "video", "other"]
Suspicion = Literal["", "empty", "not_the_vault", "unreadable"]

# Left out for what they are. Every other reason to skip means that we could not look.
_LEFT_OUT: frozenset[Reason] = frozenset({"conflict_copy", "temporary", "duplicate_link"})

# Of these the text may be there and can't be read now.
_OUT_OF_REACH: frozenset[Reason] = frozenset({"placeholder", "truncated", "unreadable"})

# Left out because their owner or a rule says so: nothing to look after.
ON_PURPOSE: frozenset[str] = frozenset((*_LEFT_OUT, *get_args(Rule)))
NOTICES: frozenset[str] = frozenset(get_args(NoticeReason))  # of files that are indexed
RULES: frozenset[str] = frozenset(get_args(Rule))

_BRAKE_NOTES = 50
_BRAKE_SHARE = 0.20
_BRAKE_FROM = 5  # fewer deletions than this are everyday life, whatever share of a small vault they are


@dataclass(frozen=True, slots=True)
class FileStamp:
    """What the system says about a file without opening it. 0 where it does not say."""

    size: int  # bytes
    mtime_ns: int
    inode: int = 0
    dev: int = 0
    # When the inode was changed, which no program sets back. Not compared: a rename changes it, too.
    ctime_ns: int = field(default=0, compare=False)

    def unchanged_since(self, earlier: "FileStamp") -> bool:
        """Is there no sign of a change? Devices are renumbered at a restart, so they do not count."""
        if (
            self.size != earlier.size
            or self.mtime_ns != earlier.mtime_ns
            or self.ctime_ns != earlier.ctime_ns
        ):
            return False
        return self.inode == earlier.inode or not self.inode or not earlier.inode

    def is_same_file_as(self, earlier: "FileStamp") -> bool:
        """Is this the same file under another name? Sure of it, or False."""
        return self.inode != 0 and self == earlier


@dataclass(frozen=True, slots=True)
class ScannedFile:
    path: NotePath
    stamp: FileStamp
    disk_path: str  # as `path`, with the names as they stand on disk (perhaps NFD)


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that could be a note and is not in the result."""

    path: str  # vault-relative; bytes that are not UTF-8 are shown escaped
    reason: Reason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A note, or a folder with notes, that a rule leaves out."""

    path: str
    rule: Rule
    notes: int  # how many


@dataclass(frozen=True, slots=True)
class Noticed:
    """Something worth a word about a file that is in the result, or about an ignore file."""

    path: str
    reason: NoticeReason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ScanResult:
    root_ok: bool  # False: the root could not be read, or `suspicious` says why it is not to be believed
    files: tuple[ScannedFile, ...]  # sorted by path
    skipped: tuple[Skipped, ...] = ()
    noticed: tuple[Noticed, ...] = ()
    unseen_dirs: tuple[str, ...] = ()  # folders that could not be read; "" is the root
    excluded: frozenset[str] = frozenset()  # files and folders that a rule left out
    left_out: tuple[LeftOut, ...] = ()  # what rules leave out, when it was asked for
    attachments: Mapping[AttachmentKind, int] = field(
        default_factory=dict
    )  # likewise: files that are no notes
    suspicious: Suspicion = ""
    has_marker: bool = False  # .obsidian or .hindbrain stands in the root

    def out_of_reach(self, known: Container[str]) -> bool:
        """May there be notes that could not be looked at, and that are not `known` from before?"""
        hidden = (item.path for item in self.skipped if item.reason in _OUT_OF_REACH)
        return bool(self.suspicious or self.unseen_dirs) or any(path not in known for path in hidden)


@dataclass(frozen=True, slots=True)
class Missing:
    """What became of the known notes that a scan does not show."""

    deleted: tuple[NotePath, ...] = ()
    moved: tuple[tuple[NotePath, NotePath], ...] = ()  # (from, to): the same file, so not a deletion
    excluded: tuple[NotePath, ...] = ()
    unseen: tuple[NotePath, ...] = ()
    frozen: bool = False  # too many deletions to believe: ask, then call `missing` with confirm=True

    @property
    def to_remove(self) -> tuple[NotePath, ...]:
        """The paths that may leave the index now. Their vectors stay cached, so a mistake costs little."""
        gone = () if self.frozen else self.deleted
        return (*gone, *self.excluded, *(old for old, _ in self.moved))


def missing(known: Mapping[NotePath, FileStamp], result: ScanResult, *, confirm: bool = False) -> Missing:
    """Say what the absence of each known note means. `confirm`: a person says that the deletions are real.

    The brake: more than 50 deletions, or more than 20 % of the known notes, freezes. So that a vault of three
    notes does not nag when one goes, the share counts from five deletions on; losing them all always counts.
    A suspicious vault has no deletions at all, confirmed or not.
    """
    found = {file.path: file.stamp for file in result.files}
    absent = sorted(path for path in known if path not in found)
    if not absent:
        return Missing()
    if result.suspicious or not result.root_ok:
        return Missing(unseen=tuple(absent))
    left_out = {item.path for item in result.skipped if item.reason in _LEFT_OUT} | result.excluded
    out_of_sight = {item.path for item in result.skipped if item.reason not in _LEFT_OUT}
    out_of_sight.update(result.unseen_dirs)
    gone_devices = _gone_devices(known, result)
    deleted, excluded, unseen = [], [], []
    for path in absent:
        if any(part in out_of_sight for part in _self_and_folders(path)) or known[path].dev in gone_devices:
            unseen.append(path)
        elif any(part in left_out for part in _self_and_folders(path)):
            excluded.append(path)
        else:
            deleted.append(path)
    moved = _pair_moves(known, deleted, found)
    gone = tuple(path for path in deleted if path not in moved)
    return Missing(
        deleted=gone,
        moved=tuple(sorted(moved.items())),
        excluded=tuple(excluded),
        unseen=tuple(unseen),
        frozen=not confirm and _too_many(len(gone), len(known)),
    )


def _too_many(deleted: int, known: int) -> bool:
    if deleted > _BRAKE_NOTES or (deleted == known and known > 1):
        return True
    return deleted >= _BRAKE_FROM and deleted > _BRAKE_SHARE * known


def _self_and_folders(path: str) -> Iterator[str]:
    yield path
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _gone_devices(known: Mapping[NotePath, FileStamp], result: ScanResult) -> set[int]:
    """Disks that held notes of this vault beside others, and hold none now: a mount inside it came off."""
    devices = {stamp.dev for stamp in known.values()}
    return devices - {file.stamp.dev for file in result.files} if len(devices) > 1 else set()


def _pair_moves(
    known: Mapping[NotePath, FileStamp], deleted: list[NotePath], found: Mapping[NotePath, FileStamp]
) -> dict[NotePath, NotePath]:
    """Match notes that vanished with the same file, untouched, under another name: a new one, or that of a
    known note that was itself moved away or removed."""
    new = {stamp: path for path, stamp in found.items() if known.get(path) != stamp} if deleted else {}
    moved: dict[NotePath, NotePath] = {}
    for path in deleted:
        target = new.get(known[path])
        if target is not None and found[target].is_same_file_as(known[path]):
            moved[path] = target
            del new[known[path]]
    return moved
