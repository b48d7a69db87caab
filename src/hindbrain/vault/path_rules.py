"""What a note may be called: the rules for vault-relative paths, as pure functions on text.

Owns the meaning of `NotePath`. Knows nothing of the disk: whether a path leads out of a vault through a
symlink is the business of `paths`.

Two strengths. `check_note_path` is for a path that somebody asks us to use, above all to create: it must be
harmless and writable on every system, because vaults are synced. `check_existing_path` is for a name that is
already on this disk: an owner on Linux may well have "What now?.md", and it must stay findable.
"""

import os
import re
import unicodedata
from collections.abc import Iterator
from typing import NewType

from hindbrain.base.errors import UnsafePath

# Vault-relative, "/" between components, NFC, never absolute, never with "." or ".." in it.
NotePath = NewType("NotePath", str)

NOTE_SUFFIXES = frozenset({"md", "markdown"})  # lower case, without the dot
INDEXED_SUFFIXES = NOTE_SUFFIXES | {"canvas"}  # a canvas is searched, and is no note that may be changed
PRIVATE_FOLDERS = frozenset({".hindbrain", ".obsidian", ".git", ".trash"})
TEMP_PREFIX = ".hindbrain-tmp-"

_MAX_COMPONENT_BYTES = 255
_MAX_PATH_BYTES = 1024
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
# Line separators and bidirectional overrides make a name look like another one.
_DECEPTIVE = re.compile("[\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_FORBIDDEN_SOMEWHERE = re.compile(r'[<>:"|?*]')
_DRIVE = re.compile(r"[A-Za-z]:")
_RESERVED = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])\s*(?:[.:].*)?", re.IGNORECASE
)
# The 8.3 names under which NTFS also answers for our private folders.
_SHORT_PRIVATE = re.compile(r"(?:git|hindbr|obsidi|trash)~[0-9]+", re.IGNORECASE)
_PERCENT = re.compile(r"%(?:u([0-9A-Fa-f]{4})|([0-9A-Fa-f]{2}))")
# Two- and three-byte spellings of ASCII that no correct decoder takes and some lenient ones do.
_OVERLONG = re.compile("[\xc0\xc1](.)|\xe0([\x80\x81])(.)|[\xf0\xf8\xfc]\x80+(.)", re.DOTALL)
_DECODE_ROUNDS = 3
_SLASHES = dict.fromkeys(
    map(ord, "\\\u2044\u2215\u2216\u29f5\u29f8\u29f9"), "/"
)  # what is mistaken for a slash


def check_note_path(raw: str) -> NotePath:
    """Return `raw` as a NotePath, or raise UnsafePath when some system would refuse or misread it."""
    path = _check_contained(raw)
    for component in path.split("/"):
        _check_portable(component, raw)
    return path


def check_existing_path(raw: str) -> NotePath:
    """As `check_note_path`, for what is on this disk already: names that only other systems forbid pass."""
    if os.name == "nt":
        return check_note_path(raw)
    return _check_contained(raw)


def is_portable(path: NotePath) -> bool:
    """Could this note be kept under the same name on every system?"""
    try:
        check_note_path(path)
    except UnsafePath:
        return False
    return True


def same_note_key(path: str) -> str:
    """Equal for two paths that some system takes for one and the same file (case, Unicode form)."""
    if path.isascii():
        return path.lower()
    folded = unicodedata.normalize("NFD", unicodedata.normalize("NFD", path).casefold())
    # Once more: a few letters fold to marks that only now stand in canonical order.
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", folded.casefold()))


def is_private(component: str) -> bool:
    """Is this the name of a folder that is not for notes, in any disguise some file system sees through?"""
    if component.isascii():
        plain = component
    else:
        folded = unicodedata.normalize("NFKC", component)
        # HFS+ ignores format characters in names: ".g\u200cit" opens ".git" there.
        plain = "".join(char for char in folded if unicodedata.category(char) not in {"Cf", "Mn"})
    if "." not in plain and "~" not in plain:
        return False
    plain = plain.casefold().rstrip(" .")
    return plain in PRIVATE_FOLDERS or _SHORT_PRIVATE.fullmatch(plain) is not None


def _check_contained(raw: str) -> NotePath:
    """The rules that keep a path inside the vault, whoever reads it."""
    if not raw:
        raise UnsafePath("an empty path names no note; give a path such as 'Projects/plan.md'")
    try:
        path = unicodedata.normalize("NFC", raw)
        size = len(path.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise UnsafePath(f"{raw!r} is not valid Unicode; rename the file") from error
    if size > _MAX_PATH_BYTES:
        raise UnsafePath(f"{raw[:60]!r}... is {size} bytes long; at most {_MAX_PATH_BYTES} work everywhere")
    if _CONTROL.search(path):
        raise UnsafePath(f"{raw!r} contains a control character; leave it out")
    if "\\" in path:
        raise UnsafePath(f"{raw!r} contains a backslash; put '/' between folders")
    if path.startswith("/") or _DRIVE.match(path):
        raise UnsafePath(f"{raw!r} is absolute; give a path relative to the vault")
    for component in path.split("/"):
        _check_component(component, raw)
    if _traverses_when_decoded(path):
        raise UnsafePath(f"{raw!r} leads out of the vault once it is decoded; give a plain path")
    return NotePath(path)


def _check_component(component: str, raw: str) -> None:
    if component in ("", ".", ".."):
        raise UnsafePath(f"{raw!r} contains an empty, '.' or '..' component; give a plain path")
    if len(component.encode("utf-8")) > _MAX_COMPONENT_BYTES:
        raise UnsafePath(f"{component[:60]!r}... is too long a name; {_MAX_COMPONENT_BYTES} bytes work")
    if is_private(component):
        raise UnsafePath(f"{raw!r} lies in {component!r}, which is not for notes; choose another folder")


def _check_portable(component: str, raw: str) -> None:
    """The rules of systems other than this one: a synced vault meets them all."""
    if bad := _FORBIDDEN_SOMEWHERE.search(component):
        raise UnsafePath(f"{raw!r} contains {bad[0]!r}, which some systems forbid; leave it out")
    if _DECEPTIVE.search(component):
        raise UnsafePath(f"{raw!r} contains a hidden direction or line mark; leave it out")
    if component[-1] in " .":
        raise UnsafePath(f"{component!r} ends with a dot or space, which Windows drops; leave it out")
    if component[0] == " ":
        raise UnsafePath(f"{component!r} begins with a space, which sync tools drop; leave it out")
    if component.startswith(".."):
        raise UnsafePath(f"{component!r} begins with '..', which looks like a way out; choose another name")
    if _RESERVED.fullmatch(component):
        raise UnsafePath(f"{component!r} is a device name on Windows; choose another name")


def _traverses_when_decoded(path: str) -> bool:
    """Would the path leave the vault if somebody later decoded it, once or several times?"""
    if path.isascii() and "%" not in path:
        return False  # it is its own only decoded form, and that was checked
    for form in _decoded_forms(path):
        separated = form.replace("\\", "/")
        if separated.startswith("/") or _DRIVE.match(separated) or "\0" in separated:
            return True
        if _has_dotdot(separated):
            return True
        # Full-width colons are everyday text in Chinese titles, so compatibility forms count only for "..".
        if not form.isascii() and _has_dotdot(unicodedata.normalize("NFKC", form).translate(_SLASHES)):
            return True
    return False


def _has_dotdot(path: str) -> bool:
    return any(".." in part and not part.strip(" .") for part in path.split("/"))


def _decoded_forms(path: str) -> Iterator[str]:
    yield path
    form = path
    for _ in range(_DECODE_ROUNDS):
        decoded = _PERCENT.sub(lambda match: chr(int(match[1] or match[2], 16)), form)
        if decoded == form:
            return
        yield decoded
        yield _OVERLONG.sub(_overlong_char, decoded)
        form = decoded


def _overlong_char(match: re.Match[str]) -> str:
    text = match[0]
    lead = ord(text[-2]) & 0x1F if len(text) == 2 else ord(text[-2]) & 0x3F
    return chr((lead << 6 | ord(text[-1]) & 0x3F) & 0x7F)


def printable(path: str) -> str:
    """Return a path that can be shown and stored: bytes that are not UTF-8 are escaped."""
    return path if path.isascii() else path.encode("utf-8", "backslashreplace").decode("utf-8")
