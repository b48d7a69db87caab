"""Who may write to OpenClaw's agents in private: whoever is answered there is answered from the vault.

Reads what openclaw.json allows, and whom its owner has let in since. The database is read, never written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from hindbrain.edge.openclaw import edits as editing
from hindbrain.edge.openclaw.edits import Form, entry_config
from hindbrain.edge.openclaw.place import Openclaw, read_rows

OWNERS = "owners"  # of the plugin's settings: senders whose private chats are the vault's owner's
_NO_CHANNELS = ("defaults", "modelByChannel")
_ANYBODY = "*"
_GROUP = "accessGroup:"
_MOST_NAMED = 5
_PLAIN_IDS = ("telegram", "discord")  # channels whose senders are numbers


class Private(NamedTuple):
    """Whom the channels let in, in private chats."""

    ids: tuple[str, ...] = ()  # senders that are named, each once: "telegram:42"
    open: tuple[str, ...] = ()  # channels that let in anybody
    pairing: tuple[str, ...] = ()  # channels that let in whom the owner approves

    @property
    def only(self) -> str:
        """The one who may write, where there is one and nobody else can; ""."""
        return self.ids[0] if len(self.ids) == 1 and not self.open else ""

    @property
    def owner(self) -> str:
        """The same, where messages have the very id that is named; else their sender would be locked out."""
        channel, _, name = self.only.partition(":")
        return self.only if channel in _PLAIN_IDS and name.isascii() and name.isdecimal() else ""


def private_chats(found: Openclaw) -> Private:
    ids: dict[str, None] = {}
    anybody: list[str] = []
    pairing: list[str] = []
    paired = _paired(found)
    for channel, entry in _channels(found.members):
        for account, one in _accounts(entry):
            policy, allowed = _policy(one, entry), list(_allowed(found.members, channel, one, entry))
            if policy == "disabled":
                continue
            if _ANYBODY in allowed:
                anybody.append(channel)
            if policy == "pairing":
                pairing.append(channel)
            if policy != "open":
                allowed += [name for at, by, name in paired if at == channel and by == account]
            ids |= {_named(channel, name): None for name in allowed if name != _ANYBODY}
    return Private(tuple(ids), tuple(dict.fromkeys(anybody)), tuple(dict.fromkeys(pairing)))


def owners_said(members: Mapping[str, Any], form: Form) -> bool:
    """Does openclaw.json say whose private chats are the owner's?"""
    return OWNERS in entry_config(members, form)


def strangers_told(found: Openclaw, form: Form) -> tuple[str, str]:
    """What follows when others than the owner may write, and what to set; ("", "") when nobody else may."""
    if owners_said(found.members, form):
        return "", ""
    private = private_chats(found)
    if private.open:
        who = f"anybody may write in private ({', '.join(private.open)})"
    elif len(private.ids) > 1:
        named = ", ".join(private.ids[:_MOST_NAMED])
        more = f" and {len(private.ids) - _MOST_NAMED} more" if len(private.ids) > _MOST_NAMED else ""
        who = f"{len(private.ids)} senders may write in private ({named}{more})"
    elif private.pairing:
        who = f"whom you approve may write in private ({', '.join(private.pairing)})"
    else:
        return "", ""
    where = ".".join(editing.entry_path(form, "config", OWNERS))
    example = private.only or _command_owner(found.members) or "YOUR ID"
    return (
        f"{who}, and {where} does not say which of them are you: a channel on which several write gets "
        "nothing of the vault, and on one on which a single one writes they are taken for you",
        f"openclaw config set {where} '[\"{example}\"]'",
    )


def _channels(members: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    channels = members.get("channels")
    for name, entry in channels.items() if isinstance(channels, dict) else ():
        if name not in _NO_CHANNELS and isinstance(entry, dict) and entry.get("enabled") is not False:
            yield name, entry


def _accounts(channel: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The accounts of a channel by name; its own settings where it has none."""
    accounts = channel.get("accounts")
    named = accounts if isinstance(accounts, dict) else {}
    on = [(name, one) for name, one in named.items() if isinstance(one, dict)]
    yield from ((name, one) for name, one in on if one.get("enabled") is not False)
    if not on:
        yield "default", channel


def _policy(account: Mapping[str, Any], channel: Mapping[str, Any]) -> str:
    return str(_first(account, channel, "dmPolicy", "policy") or "pairing")


def _allowed(
    members: Mapping[str, Any], channel: str, account: Mapping[str, Any], entry: Mapping[str, Any]
) -> Iterator[str]:
    listed = _first(account, entry, "allowFrom", "allowFrom")
    for name in listed if isinstance(listed, list) else ():
        if not str(name).startswith(_GROUP):
            yield str(name).strip()
            continue
        group = editing.found(members, ("accessGroups", str(name).removeprefix(_GROUP), "members"))[1]
        for key in (_ANYBODY, channel):
            inside = group.get(key) if isinstance(group, dict) else None
            yield from (str(one).strip() for one in inside) if isinstance(inside, list) else ()


def _first(account: Mapping[str, Any], channel: Mapping[str, Any], word: str, inside: str) -> Any:
    """What an account says, else its channel; older files say it below `dm`."""
    for table in (account, channel):
        below = table.get("dm")
        for found in (table.get(word), below.get(inside) if isinstance(below, dict) else None):
            if found is not None:
                return found
    return None


def _named(channel: str, name: str) -> str:
    """An id with its channel, which may stand before it already."""
    before, _, after = name.partition(":")
    is_told = after and (before == channel or (before, channel) == ("tg", "telegram"))
    return f"{channel}:{after if is_told else name}"


def _command_owner(members: Mapping[str, Any]) -> str:
    """Who may command OpenClaw itself is most likely the vault's owner."""
    owners = editing.found(members, ("commands", "ownerAllowFrom"))[1]
    named = [str(one) for one in owners] if isinstance(owners, list) else []
    return next((one for one in named if one and one != _ANYBODY), "")


def _paired(found: Openclaw) -> list[tuple[str, str, str]]:
    """Channel, account and id of whom the owner has approved; [] where that can't be told."""
    rows = read_rows(
        found,
        "SELECT channel_key, account_id, entry FROM channel_pairing_allow_entries "
        "ORDER BY channel_key, account_id, sort_order",
    )
    return [(str(channel), str(account), str(entry)) for channel, account, entry in rows or ()]
