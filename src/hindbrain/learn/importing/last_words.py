"""What an agent's last message says about how it went: it gives up, or it asks the person back.

Pure, by words alone, in the languages below. A sentence about something else that could not ("I fixed the
test that could not find its file") is no giving up.
"""

from __future__ import annotations

import re

from hindbrain.learn.runs.gist import gist

_LOOKED_AT = 1_500  # characters of an answer
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_QUOTED = re.compile(r"`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|「[^」\n]*」")
_CLAUSE = re.compile(r"[,;:—–]|\b(?:but|however|yet|aber|mais|pero|però|ma|mas|maar|ale|но)\b", re.IGNORECASE)
_FAULT = (
    r"mistake|bug|error|problem|issue|fault|flaw|defect|difference|duplicate|typo|regression|leak|conflict"
)
# "I can't find any mistake", "I could not ask for more": nothing is left undone.
_ALL_WELL = (
    rf"(?!(?:to )?(?:find|see|detect|reproduce|spot|notice|identify)\b[^.]*\b(?:{_FAULT})"
    r"|(?:to )?reproduce\b|ask for\b|agree more|help but|be happier)"
)
_COULD_NOT = r"(?:could(?: not|n't)|can(?: ?not|'t))"
# In the first person: the agent means itself, wherever the words stand.
_OWN_WORDS = re.compile(
    rf"\b(?:i|we)(?: \w+)? {_COULD_NOT} {_ALL_WELL}\w"
    rf"|\b(?:i|we)(?:'m|'ve| am| are| was| were| have)?(?: been)?(?: unable|(?: not|n't)(?: been)? able)"
    rf" {_ALL_WELL}to\b"
    rf"|\b(?:i|we)(?:'ve| have)? (?:failed|did(?: not|n't) manage) {_ALL_WELL}to\b"
    r"|\b(?:i|we)(?:'m| am| have|'ve)? (?:give|gave|giving|given) up\b"
    r"|\b(?:ich|wir) k(?:ann|önnen|onnten?)\b[^.,;:!?]{0,80}\bnicht\b"
    r"|\bk(?:ann|önnen|onnten?) (?:ich|wir)\b[^.,;:!?]{0,80}\bnicht\b"
    r"|\b(?:ich )?gebe (?:ich )?auf\b"
    r"|\bj(?:e n)?'(?:ai pas (?:pu|réussi)|abandonne)\b|\bje ne (?:peux|parviens|pouvais) pas\b"
    r"|\bnous n'avons pas (?:pu|réussi)\b"
    r"|\bno (?:pude|pudimos|puedo|podemos|(?:he|hemos) podido|logré|conseguí)\b"
    r"|\bnon (?:(?:ho|abbiamo) potuto|posso|possiamo|sono riuscit[oa]|siamo riusciti)\b"
    r"|\bnão (?:consegui|conseguimos|pude|posso|podemos)\b"
    r"|\b(?:ik|wij|we) k(?:on|onden|an|unnen)\b[^.,;:!?]{0,80}\bniet\b"
    r"|\b(?:jag|jeg|vi) (?:kunde inte|kan inte|kunne ikke|kan ikke)\b"
    r"|\bnie (?:mogłem|mogłam|mogę|zdołałem|zdołałam|udało mi się)\b|\bне (?:смог(?:ла)?|могу|сумела?)\b"
    r"|\w[ae]m[ae]d[ıi](?:m|k)\b|لم (?:أتمكن|أستطع)"
    r"|(?:못했습니다|수 없(?:었)?습니다)\W*$|(?:でき|出来)ません(?:でした)?\W*$",
    re.IGNORECASE,
)
# Of whatever it is: only in a main clause, and not where the sentence says that it was put right.
_ANY_WORDS = re.compile(
    rf"\bcould(?: not|n't) {_ALL_WELL}\w|(?:^|sorry,? |unfortunately,? ){_COULD_NOT} {_ALL_WELL}\w"
    rf"|\bcan(?: ?not|'t) be \w|\b(?:not|n't) (?:able|possible) to\b|\bunable {_ALL_WELL}to\b"
    rf"|\bfailed {_ALL_WELL}to \w|\bdid(?: not|n't) work\b|\bg(?:ave|iving) up\b"
    r"|\bkonnten?\b[^.,;:!?]{0,80}\bnicht\b|\bnicht (?:möglich|gelungen|geschafft)\b"
    r"|\b(?:ist|sind) (?:leider )?(?:fehlgeschlagen|gescheitert)\b"
    r"|\bn'(?:a|ont) pas pu\b|\bimpossible d(?:e |')|\ba échoué\b"
    r"|\bno (?:se pudo|fue posible|ha sido posible)\b|\bnon è (?:stato possibile|riuscito)\b"
    r"|\bnão (?:foi possível|deu certo)\b|\bniet (?:gelukt|mogelijk)\b|\bnie udało się\b"
    r"|\bне (?:удалось|получилось)\b|无法|未能|没能|無法|تعذر|失敗しました\W*$|실패했습니다\W*$",
    re.IGNORECASE,
)
_SUBORDINATE = re.compile(
    r"\b(?:that|which|who|whose|where|when|whenever|if|because|since|why|what|how|until|whether|saying|about"
    r"|you|they|users?|people|qui|que|dont|où|parce|lorsque|quien|cuyo|donde|cuando|porque|che|cui"
    r"|perché|quando|die|dat|omdat|który|która|które|bo|котор\w+|что|если)\b",
    re.IGNORECASE,
)
_PUT_RIGHT = re.compile(
    r"\b(?:fix(?:ed|es)|solved?|resolved?|repaired|corrected|handled?|explains?|explained|replaced"
    r"|behoben|repariert|gelöst|korrigiert|corrigé|réparé|résolu|corregido|corregí|arreglado|arreglé|resuelto"
    r"|solucionado|corretto|risolto|riparato|corrigi\w*|consertei|resolvi\w*|gerepareerd|opgelost|napraw\w+"
    r"|исправ\w+|почини\w+)\b|修复|解决|修正",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"(?:please|bitte|por favor|s'il (?:vous|te) pla[iî]t|per favore) (?!(?:find|see|note|refer)\b)\w"
    r"|(?:i|we)(?: first)? need (?:to know|more|you to|your)\b|let me know (?:which|what|where|who|how)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w{4,}")
_STEM = 6  # letters by which two forms of a word are one


def gives_up(answer: str, command: str = "") -> bool:
    """Whether it says that the task was not done.

    The first sentence that says something counts; a later one where it repeats a word of the command:
    "I looked for a printer. I could not print the invoice."
    """
    first, *later = _sentences(answer) or [""]
    wanted = _stems(command)
    return _says_no(first) or any(_says_no(one) and wanted & _stems(one) for one in later)


def asks_back(answer: str) -> bool:
    """Whether it begins with a question to the person, or holds nothing else."""
    first, *_ = _sentences(answer) or _SENTENCE.split(answer.strip())  # "Shall I?" tells nothing
    if first.rstrip(" *_`\"')”’").endswith(("?", "？", "؟")):
        return True
    return _ASKS.match(first.replace("’", "'")) is not None


def _says_no(sentence: str) -> bool:
    plain = _QUOTED.sub("…", sentence.replace("’", "'"))
    if _OWN_WORDS.search(plain):
        return True
    return any(not _is_about_another(plain[: found.start()]) for found in _ANY_WORDS.finditer(plain))


def _is_about_another(before: str) -> bool:
    """Whether the words in front make it somebody else's inability, or one that is gone."""
    turns = [mark.end() for mark in _CLAUSE.finditer(before)]
    clause = before[turns[-1] :] if turns else before
    but = max((mark.end() for mark in _CLAUSE.finditer(before) if mark[0].isalpha()), default=0)
    return bool(_SUBORDINATE.search(clause) or _PUT_RIGHT.search(before[but:]))


def _sentences(answer: str) -> list[str]:
    return [one.strip() for one in _SENTENCE.split(gist(answer, _LOOKED_AT)) if one.strip()]


def _stems(text: str) -> set[str]:
    return {word[:_STEM].casefold() for word in _WORD.findall(text)}
