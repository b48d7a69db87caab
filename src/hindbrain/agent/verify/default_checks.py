"""The verification of a run for which nothing else is to be checked: by what it did, left behind and says.

    mark     it says itself that all is done
    calls    the last call succeeded; failures before it cost a little
    files    the files are there that the command orders, or that the answer says were made or changed
    answer   the last words are an answer: not empty, no question back, no giving up

Asks no model and runs nothing; looks only whether files are there, in the workspace and in the vault. What it
finds is never fed back to the model: it decides whether the run's end proves anything.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from hindbrain.agent.safety.file_orders import ordered_files
from hindbrain.agent.verify.check import Verdict
from hindbrain.agent.verify.judge import Step
from hindbrain.context.packs.fence import fence_line
from hindbrain.learn.importing.last_words import asks_back, gives_up

_OVERCOME = 80  # of the calls, when one failed and a later one succeeded
_LONGEST_SAID = 120  # characters of what a failed call answered
_LOOKED_AT = 2_000  # characters of what a call answered
_MOST_FILES = 50
_SENTENCE = re.compile(r"(?<=[.!?。])\s+|\n")
_PATH = re.compile(
    r"(?<![\w/\\.@:~+%-])(?:~?/|(?:\.{1,2}/)+)?(?:[\w@+%-][\w@+%.-]*/)*"
    r"[\w@+%-][\w@+%.-]*\.[A-Za-z]\w{0,7}(?![\w/@(])"
)
_NAMES_FILE = re.compile(r"[^/\s:*?<>|()](?:[^:*?<>|()\n]*[^\s:*?<>|()])?\.[A-Za-z]\w{0,7}|~?/[^:*?<>|()\n]+")
_QUOTED = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|“([^”\n]+)”|\[\[([^\]\n|#]+)")
_MADE = re.compile(
    r"\b(?:wrote|written|created?|saved?|stored|made|added|updated|changed|edited|replaced|generated|exported"
    r"|produced|appended|put|geschrieben|erstellt|gespeichert|angelegt|geändert|aktualisiert|erzeugt|écrit|créé"
    r"|enregistré|modifié|escrito|creado|guardado|escribí|creé|guardé|actualizado|scritto|creato|salvato"
    r"|aggiornato|escrevi|criei|salvei|criado|salvo|atualizado|geschreven|aangemaakt|opgeslagen|bijgewerkt)\b",
    re.IGNORECASE,
)
# With one of these a sentence may speak of a file that is gone, or that was never meant to be there.
_DOUBT = re.compile(
    r"\b(?:deleted?|removed?|renamed?|moved?|no|not|never|without|would|could|can|should|will|may|might|if|from"
    r"|instead|gelöscht|entfernt|umbenannt|verschoben|nicht|kein\w*|supprimé|renommé|déplacé|pas|eliminado"
    r"|borrado|movido|eliminato|spostato|removido|apagado|verwijderd|niet)\b|n['’]t\b",
    re.IGNORECASE,
)


class Finished(NamedTuple):
    """A run that says it has finished."""

    command: str
    answer: str  # without the completion mark
    marked: bool  # it has the completion mark
    steps: Sequence[Step] = ()


def default_verdicts(run: Finished, folders: Sequence[Path]) -> list[Verdict]:
    """`folders`: the workspace and the vault, in which files are looked for."""
    verdicts = [_mark(run), _calls(run.steps), _files(run, folders), _answer(run)]
    return [verdict for verdict in verdicts if verdict is not None]


def _mark(run: Finished) -> Verdict:
    return Verdict("mark", 100) if run.marked else Verdict("mark", 0, "it did not say that all of it is done")


def _calls(steps: Sequence[Step]) -> Verdict | None:
    if not steps:
        return None
    failed = [step for step in steps if not step.ok]
    if not failed:
        return Verdict("calls", 100)
    if steps[-1].ok:
        return Verdict(
            "calls", _OVERCOME, f"{len(failed)} of {len(steps)} failed, and others succeeded since"
        )
    said = fence_line(steps[-1].said, limit=_LONGEST_SAID)
    return Verdict("calls", 0, f"the last one, {steps[-1].name}, failed: {said}")


def _files(run: Finished, folders: Sequence[Path]) -> Verdict | None:
    given = [word for step in run.steps for word in step.words]
    # A tool may put a file elsewhere than it was asked to, and says where.
    told = [path for step in run.steps if step.ok for path in _paths(step.said[:_LOOKED_AT])]
    named = {path: _places(path, [*given, *told], folders) for path in _named(run, given)}
    looked_for = {path: places for path, places in named.items() if places}
    if not looked_for:
        return None
    missing = sorted(path for path, places in looked_for.items() if not any(map(os.path.exists, places)))
    there = len(looked_for) - len(missing)
    named_ones = ", ".join(repr(fence_line(path, limit=_LONGEST_SAID)) for path in missing)
    return Verdict("files", 100 * there // len(looked_for), f"not there: {named_ones}" if missing else "")


def _answer(run: Finished) -> Verdict:
    why = ""
    if not run.answer.strip():
        why = "there is none"
    elif gives_up(run.answer, run.command):
        why = "it says that it could not do it"
    elif asks_back(run.answer):
        why = "it asks a question"
    return Verdict("answer", 0 if why else 100, why)


def _named(run: Finished, given: Sequence[str]) -> list[str]:
    """The files that the run was to write, by its command or by its own words."""
    claimed = [path for path in _claimed(run.answer) if _is_of_the_run(path, run.command, given)]
    return list(dict.fromkeys((*ordered_files(run.command), *claimed)))[:_MOST_FILES]


def _claimed(answer: str) -> Iterator[str]:
    """The paths that the answer says were made or changed."""
    for sentence in _SENTENCE.split(answer):
        if _MADE.search(sentence) and not _DOUBT.search(_PATH.sub(" ", _QUOTED.sub(" ", sentence))):
            yield from filter(_NAMES_FILE.fullmatch, _paths(sentence))


def _paths(text: str) -> Iterator[str]:
    """What is quoted, linked, or looks like a path."""
    yield from _PATH.findall(_QUOTED.sub(" ", text))
    yield from (next(filter(None, found.groups())).strip() for found in _QUOTED.finditer(text))


def _is_of_the_run(path: str, command: str, given: Sequence[str]) -> bool:
    """`config.debug` and `Node.js` look like files, too: one has a folder, or was spoken of before."""
    return "/" in path or path in command or any(_ends_with(word, path) for word in given)


def _places(path: str, given: Sequence[str], folders: Sequence[Path]) -> list[str]:
    """Where the file may lie; [] when that is outside of the folders."""
    forms = [path, *(word for word in given if _ends_with(word, path))]
    return [place for folder in folders for form in forms for place in _inside(form, folder.absolute())]


def _inside(path: str, folder: Path) -> Iterator[str]:
    home = path.startswith("~/")  # "~bar/a.txt" is no folder of anybody that we know
    place = os.path.normpath(folder / (Path(path).expanduser() if home else path))
    if Path(place).is_relative_to(folder):
        yield from (place, f"{place}.md")  # tools of the vault take a note's name without its ending


def _ends_with(word: str, path: str) -> bool:
    name = path.removeprefix("./")
    return any(form == name or form.endswith(f"/{name}") for form in (word.replace("\\", "/"), f"{word}.md"))
