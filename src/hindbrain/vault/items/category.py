"""What kind of memory a place holds: by the name of the note, else by the headings above the line.

Pure; knows nothing of files. The headings are those of the OpenClaw MEMORY.md, and whatever resembles them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

CATEGORIES = (
    "preference", "fact", "pattern", "contact", "project", "issue", "decision", "action", "relationship",
)  # fmt: skip

# A heading that holds the first part means the second; "Relationships & Contacts" speaks of people first.
_CUES = (
    ("preference", "preference"),
    ("contact", "contact"),
    ("people", "contact"),
    ("relationship", "relationship"),
    ("decision", "decision"),
    ("pattern", "pattern"),
    ("workflow", "pattern"),
    ("project", "project"),
    ("issue", "issue"),
    ("action", "action"),
    ("recurring task", "action"),
    ("fact", "fact"),
)
_HEADINGS = {
    "preference": "User Preferences",
    "fact": "Facts",
    "pattern": "Learned Patterns",
    "contact": "Relationships & Contacts",
    "project": "Project Context",
    "issue": "Known Issues",
    "decision": "Important Decisions",
    "action": "Recurring Tasks",
    "relationship": "Relationships & Contacts",
}


_ASKED = {
    "preference": "preference preferences prefer prefers like likes liked love loves hate hates dislike "
    "dislikes favourite favourites favorite favorites taste tastes",
    "decision": "decision decisions decide decides decided",
    "contact": "contact contacts people person persons",
    "project": "project projects",
    "issue": "issue issues problem problems",
    "pattern": "pattern patterns habit habits routine routines",
    "action": "action actions",
    "relationship": "relationship relationships family",
    "fact": "fact facts",
}
_CATEGORY_OF_WORD = {word: category for category, words in _ASKED.items() for word in words.split()}
# Words that say nothing of what is asked for.
_NOBODY = frozenset((
    "user", "users", "owner", "know", "known", "knows", "remember", "everything", "anything", "things",
    "thing", "all", "any",
))  # fmt: skip


def category_asked_for(words: Collection[str]) -> str:
    """The kind of memory that a topic asks for and nothing else ("user preferences"); "" for other topics."""
    kinds = {_CATEGORY_OF_WORD.get(word, "") for word in words if word not in _NOBODY}
    return kinds.pop() if len(kinds) == 1 else ""


def category_of_note(path: str) -> str:
    """`Memory/preference.md` and `preferences.md` hold preferences; "" when the name tells nothing."""
    stem = path.rpartition("/")[2].removesuffix(".md").casefold()
    return next((name for name in CATEGORIES if stem in (name, f"{name}s")), "")


def category_of_headings(headings: Sequence[str]) -> str:
    """The innermost heading that tells; "" when none does."""
    for heading in reversed(headings):
        folded = heading.casefold()
        for cue, category in _CUES:
            if cue in folded:
                return category
    return ""


def heading_for(category: str) -> str:
    """Where a memory goes in a note that holds several categories."""
    return _HEADINGS.get(category, _HEADINGS["fact"])


def title_for(category: str) -> str:
    """What the note of one category is called on its first line."""
    return "Memory: " + category
