"""All memories of a vault, as its notes hold them now; and which of them resemble a text.

Reads notes through the layout's role `memory`; a note is read again only when its stamp changed, so a warm
process pays for what was written. A note that can't be read hides no other one and is named in `problems`.
Writes nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.errors import HindbrainError, NotFound
from hindbrain.memory.items.word_index import WordIndex, nearest
from hindbrain.vault.frontmatter import read_frontmatter
from hindbrain.vault.items.category import CATEGORIES, category_of_note
from hindbrain.vault.items.item import MemoryItem, parse_items, trust_of
from hindbrain.vault.items.plain_list import plain_blocks
from hindbrain.vault.lines import NoteLines
from hindbrain.vault.path_rules import check_existing_path
from hindbrain.vault.paths import stamp_of

if TYPE_CHECKING:
    from hindbrain.memory.items.elsewhere import Elsewhere
    from hindbrain.memory.notes.notebook import Notebook
    from hindbrain.vault.layout import Layout
    from hindbrain.vault.path_rules import NotePath
    from hindbrain.vault.scan_result import FileStamp


_AGENT = trust_of("agent")


class BookProblem(NamedTuple):
    """A memory note that could not be read."""

    path: str
    message: str


class _Leaf(NamedTuple):
    """A memory note as it was when it had this stamp."""

    stamp: FileStamp
    texts: list[str]  # its lines
    words: WordIndex
    doubtful: WordIndex  # of the memories that are trusted less than an agent
    category: str = ""  # that a note elsewhere tells

    def grown(self, items: Iterable[MemoryItem]) -> _Leaf:
        """With more memories behind those that are there."""
        for item in items:
            self.words.add(item)
            if trust_of(item.source) > _AGENT:
                self.doubtful.add(item)
        return self


class MemoryBook:
    """For one thread."""

    def __init__(
        self,
        notebook: Notebook,
        layout: Layout,
        root: Path,
        paths: Callable[[], list[NotePath]] | None = None,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        """`paths`: the notes to read, where these are not those of the role. `elsewhere`: finds memories
        that stand in other notes."""
        self._notebook = notebook
        self._layout = layout
        self._root = root
        self._paths = paths or (lambda: layout.notes_of("memory", root))
        self._elsewhere = elsewhere
        self._leaves: dict[str, _Leaf] = {}
        self._others: tuple[object, dict[str, _Leaf]] = (None, {})  # leaves of other notes, and of what
        self.problems: tuple[BookProblem, ...] = ()  # of the last look
        self.version = 0  # another number whenever a look found something else

    def items(self) -> list[MemoryItem]:
        """Every memory, superseded ones included, in the order of the notes."""
        self._refresh()
        return [item for leaf in self._leaves.values() for item in leaf.words.items]

    def find(self, memory_id: str) -> MemoryItem:
        """Raises NotFound with the nearest id. A citation (`[[Note#^id]]`) or `^id` will do, too."""
        wanted = memory_id.strip().rpartition("^")[2].rstrip("]")
        items = self.items()
        for item in items:
            if wanted and item.id == wanted:
                return item
        raise NotFound(f"there is no memory {wanted!r}{_hint(wanted, items)}")

    def candidates(self, text: str, k: int = 16) -> list[MemoryItem]:
        """The memories that share most words with `text`, best first; superseded ones included."""
        self._refresh()
        return nearest(text, self.indexes(), k)

    def doubtful(self, text: str, k: int = 16) -> list[MemoryItem]:
        """As `candidates`, of the memories that are trusted less than an agent."""
        self._refresh()
        return nearest(text, [leaf.doubtful for leaf in self._leaves.values() if leaf.doubtful.items], k)

    def indexes(self) -> list[WordIndex]:
        """The words of each note, as of the last look."""
        return [leaf.words for leaf in self._leaves.values()]

    def readable_paths(self) -> list[str]:
        """The memory notes that were read at the last look."""
        return list(self._leaves)

    def category_of(self, path: str) -> str:
        """The category of a note's memories; "" when its headings tell."""
        if path in self._others[1]:
            return self._others[1][path].category
        told = self._layout.category_of(path)
        return told if told in CATEGORIES else category_of_note(path)

    def _refresh(self) -> None:
        problems: list[BookProblem] = []
        leaves: dict[str, _Leaf] = {}
        try:
            paths = self._paths()
        except HindbrainError as error:
            self.problems = (BookProblem(self._layout.folder, str(error)),)
            return
        for path in paths:
            try:
                leaves[path] = self._leaf(path)
            except NotFound:
                continue  # it went away since the folder was listed
            except (HindbrainError, OSError) as error:
                problems.append(BookProblem(path, str(error)))
        if self._elsewhere is not None:
            leaves |= self._other_leaves(leaves, self._elsewhere)
        same = leaves.keys() == self._leaves.keys() and all(leaves[p] is self._leaves[p] for p in leaves)
        if not same or tuple(problems) != self.problems:
            self.version += 1
        self._leaves = leaves
        self.problems = tuple(problems)

    def _other_leaves(self, leaves: dict[str, _Leaf], elsewhere: Elsewhere) -> dict[str, _Leaf]:
        """Notes outside the role that hold memories which the ledger knows and no note of the role has."""
        stamps = tuple((path, leaf.stamp) for path, leaf in leaves.items())
        before, known = self._others
        if before == (stamps, elsewhere.version) and all(
            self._stamp(path) == leaf.stamp for path, leaf in known.items()
        ):
            return known
        present = {item.id for leaf in leaves.values() for item in leaf.words.items}
        missing = elsewhere.missing(present)
        found: dict[str, _Leaf] = {}
        for path in sorted(set(missing.values()) - leaves.keys() - {""}):
            self._add_other(found, path, missing)
        held = {item.id for leaf in found.values() for item in leaf.words.items}
        for path in elsewhere.find({id_: path for id_, path in missing.items() if id_ not in held}):
            if path not in leaves:
                self._add_other(found, path, missing)
        held = {item.id for leaf in found.values() for item in leaf.words.items}
        # A memory that is nowhere may come back where nobody looks: it is asked for each time.
        self._others = ((stamps, elsewhere.version) if missing.keys() <= held else None, found)
        return found

    def _add_other(self, found: dict[str, _Leaf], path: str, ids: Collection[str]) -> None:
        """Read the memories with these ids; a line without one in such a note is its owner's, and none."""
        from hindbrain.memory.items.elsewhere import category_told, items_with_ids

        stamp = self._stamp(path)
        if stamp is None:
            return
        with contextlib.suppress(HindbrainError, OSError):
            data = self._notebook.read(path).data
            texts = NoteLines(data, repr(path)).texts
            category = category_told(data, path)
            items = items_with_ids(texts, path, category, ids)
            if items:
                found[path] = _Leaf(stamp, texts, WordIndex(), WordIndex(), category).grown(items)

    def _stamp(self, path: str) -> FileStamp | None:
        try:
            return stamp_of(self._root, check_existing_path(path))
        except (HindbrainError, OSError):
            return None

    def _leaf(self, path: NotePath) -> _Leaf:
        stamp = stamp_of(self._root, path)
        known = self._leaves.get(path)
        if known is not None and known.stamp == stamp:
            return known
        page = self._notebook.read(path)
        texts = NoteLines(page.data, repr(path)).texts
        # What is read may be newer than the stamp: then the next look reads it once more.
        category = self.category_of(path)
        if known is not None and category and (more := _appended(known.texts, texts)):
            items = parse_items(more, path=path, category=category)
            moved = [item._replace(line=item.line + len(known.texts)) for item in items]
            return _Leaf(stamp, texts, known.words, known.doubtful).grown(moved)
        items = parse_items(texts, path=path, category=category)
        return _Leaf(stamp, texts, WordIndex(), WordIndex()).grown(items)


def _appended(old: list[str], new: list[str]) -> list[str]:
    """The lines that were added at the end of a plain list, and nothing else was changed; else none."""
    more = new[len(old) :]
    if not more or new[: len(old)] != old or not all(line.startswith("- ") for line in more):
        return []
    plain = plain_blocks(old, read_frontmatter(old).last_line) is not None if old else False
    return more if plain and plain_blocks(more, 0) is not None else []


def _hint(wanted: str, items: list[MemoryItem]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(wanted, [item.id for item in items if item.id], 1, 0.7)
    return f"; did you mean {near[0]!r}?" if near else "; recall shows the ids of memories"
