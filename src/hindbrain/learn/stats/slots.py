"""What each slot of the packs costs and whether it was used: from receipts and runs.

An excerpt counts as used when an answer quoted or named it or its command was run (`context.used`), and a
template also when the run that got it followed it. This is no more than what is known. What a person opens or
recalls afterwards says nothing of the agent, and does not count. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from hindbrain.context.receipts import Receipt
from hindbrain.learn.runs.episode import Episode
from hindbrain.learn.stats.figures import SlotFigures, SlotStats
from hindbrain.learn.templates.template import Template
from hindbrain.learn.templates.using import was_followed

_EARLY_S = 30.0  # a pack is made before the host writes the prompt down


def slot_stats(
    receipts: Iterable[Receipt],
    episodes: Iterable[Episode] = (),
    templates: Iterable[Template] = (),
    *,
    since: float = 0.0,
) -> SlotStats:
    """Of what reached a prompt since then. Slots in the order in which they first occur."""
    seen = uses_by_receipt(receipts, episodes, templates, since=since)
    slots: dict[str, SlotFigures] = {}
    for receipt, uses in seen:
        for name in dict.fromkeys(slot for slot, _ in uses):
            mine = [one for one in receipt.entered if one.slot == name]
            known = slots.get(name, SlotFigures(name))
            slots[name] = SlotFigures(
                name,
                known.injections + 1,
                known.excerpts + len(mine),
                known.lines + sum(one.lines for one in mine),
                known.tokens + sum(one.tokens for one in mine),
                known.used + sum(used for slot, used in uses if slot == name),
            )
    prompts = [receipt for receipt, _ in seen if receipt.event == "turn"]
    return SlotStats(
        min((receipt.at for receipt, _ in seen), default=0.0),
        len(prompts),
        sum(not receipt.entered for receipt in prompts),
        tuple(slots.values()),
    )


def uses_by_receipt(
    receipts: Iterable[Receipt],
    episodes: Iterable[Episode] = (),
    templates: Iterable[Template] = (),
    *,
    since: float = 0.0,
) -> list[tuple[Receipt, list[tuple[str, bool]]]]:
    """What reached a prompt since then: the slot of each excerpt, and whether it is known to be used."""
    seen = [receipt for receipt in receipts if receipt.delivered and receipt.at >= since]
    followed = _followed(seen, episodes, templates)
    return [
        (
            receipt,
            [(one.slot, bool(one.used) or (receipt.id, one.path) in followed) for one in receipt.entered],
        )
        for receipt in seen
    ]


def _followed(
    receipts: Sequence[Receipt], episodes: Iterable[Episode], templates: Iterable[Template]
) -> set[tuple[str, str]]:
    """Receipts, by id, and the templates in them that their run followed."""
    by_path = {template.path: template for template in templates if template.path}
    runs: defaultdict[tuple[str, str], list[Episode]] = defaultdict(list)
    for episode in episodes if by_path else ():
        runs[episode.host, episode.session].append(episode)
    return {
        (receipt.id, one.path)
        for receipt in receipts
        for one in receipt.entered
        if one.path in by_path
        for episode in runs.get((receipt.host, receipt.session), ())
        if episode.started - _EARLY_S <= receipt.at <= episode.ended
        and was_followed(by_path[one.path], episode)
    }
