"""What background work spends on a model: counted per day and purpose, and ended when the day's budget is.

Tokens are estimated as everywhere (`context.tokens`), of the question before it is sent and of the answer
after, unless the service says that it made more. The ledger is a log in the state folder, so that processes
share one budget; losing it costs only the count.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from hindbrain.base.errors import ModelDown
from hindbrain.base.files import append_record, make_folder
from hindbrain.models.chat import NOBODY, ChatAnswer, ChatRequest, Watch

if TYPE_CHECKING:
    from hindbrain.base.clock import Clock
    from hindbrain.models.chat import ChatModel

TOKENS = "tokens.jsonl"


class TokenLedger:
    """Tokens by day and purpose."""

    def __init__(self, state: Path, clock: Clock) -> None:
        self._file = state / TOKENS
        self._clock = clock

    def today(self) -> str:
        return self._clock.today().isoformat()

    def spent(self, day: str = "") -> int:
        """On that day (YYYY-MM-DD), or today."""
        return sum(self.by_purpose(day or self.today()).values())

    def by_purpose(self, day: str = "") -> Mapping[str, int]:
        """Of one day, or of all days."""
        counts: Counter[str] = Counter()
        for told_day, purpose, tokens in self._lines():
            if day in ("", told_day):
                counts[purpose] += tokens
        return counts

    def by_day(self) -> Mapping[str, int]:
        counts: Counter[str] = Counter()
        for day, _, tokens in self._lines():
            counts[day] += tokens
        return counts

    def add(self, purpose: str, tokens: int) -> None:
        """Counted as far as the disk lets us: a request was made, whether it can be noted or not."""
        line = json.dumps({"day": self.today(), "for": purpose, "tokens": tokens}, ensure_ascii=True)
        try:
            make_folder(self._file.parent)
            append_record(self._file, f"{line}\n".encode("ascii"), durable=False)
        except OSError:
            return

    def _lines(self) -> list[tuple[str, str, int]]:
        try:
            lines = self._file.read_bytes().split(b"\n")
        except OSError:
            return []
        return [told for line in lines if (told := _told(line)) is not None]


class BudgetedChat:
    """A chat model that stops for the day when the budget of background work is spent."""

    def __init__(self, chat: ChatModel, ledger: TokenLedger, daily_tokens: int, purpose: str) -> None:
        self._chat = chat
        self._ledger = ledger
        self._daily_tokens = daily_tokens
        self._purpose = purpose

    @property
    def name(self) -> str:
        return self._chat.name

    @property
    def calls_tools(self) -> bool:
        return self._chat.calls_tools

    def answer(self, request: ChatRequest, watch: Watch = NOBODY) -> ChatAnswer:
        """As the model's own. ModelDown when the question would go beyond what is left for today."""
        from hindbrain.context.tokens import count_tokens

        asked = sum(count_tokens(message.text) for message in request.messages)
        spent = self._ledger.spent()
        if spent + asked > self._daily_tokens:
            raise ModelDown(
                f"background work has spent {spent} of today's {self._daily_tokens} tokens and "
                f"{self._purpose!r} needs {asked} more; it goes on without a model"
            )
        self._ledger.add(self._purpose, asked)
        answer = self._chat.answer(request, watch)
        # A model that thinks makes more than it says.
        self._ledger.add(self._purpose, max(count_tokens(answer.text), answer.usage.made))
        return answer


def _told(line: bytes) -> tuple[str, str, int] | None:
    try:
        found = json.loads(line)
        return str(found["day"]), str(found["for"]), int(found["tokens"])
    except (ValueError, TypeError, LookupError):
        return None
