"""`hindbrain run --listen`: commands from the owner's channels and from programs on this machine, one by one.

Answers go back the way the command came. Nobody sits at a terminal: what needs the owner's word waits, the
owner is told, and the run goes on when it was given: over the channel, or in a terminal. Only senders that
the owner named give commands, and answers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hindbrain.base.errors import HindbrainError
from hindbrain.edge.agent_runs.interrupts import Interrupts
from hindbrain.edge.agent_runs.working import Worker, is_shown_whole, send
from hindbrain.edge.output import Output, safe

if TYPE_CHECKING:
    from hindbrain.agent.channels.channel import Incoming
    from hindbrain.agent.gateway import CommandGateway
    from hindbrain.agent.run import RunRequest
    from hindbrain.agent.safety.approval import Decision
    from hindbrain.app import App

_MOST = 50  # messages of one look
_ANSWER = re.compile(r"\s*(approve|deny)\s+(a-[a-z0-9]{6})\s*[.!]?\s*", re.IGNORECASE)


def listen(app: App, request: RunRequest, out: Output, *, port: int | None) -> int:
    """Until Ctrl-C. `request`: what all commands share."""
    from hindbrain.agent.gateway import CommandGateway
    from hindbrain.edge.agent_runs.http_server import DEFAULT_PORT, CommandServer
    from hindbrain.edge.http import address
    from hindbrain.edge.http.token import read_or_make_token
    from hindbrain.edge.mcp.http import token_file

    gateway = CommandGateway(app.state, app.clock)
    interrupts = Interrupts(lambda: out.say("ending; a run that goes on is cancelled"))
    ears = Ears(app, gateway, out)
    file = token_file(app.state, "")
    token = read_or_make_token(file)
    socket = address.listen(address.Address(port=DEFAULT_PORT if port is None else port))
    server = CommandServer(socket, gateway, token)
    try:
        with interrupts.caught():
            announced = {"url": server.url, "token_file": str(file), "channels": sorted(ears.commanders)}
            out.data(announced) if out.json else out.line(server.url)
            out.stdout.flush()
            ears.say_what_is_heard()
            out.say("Ctrl-C ends it. Programs need the token: hindbrain mcp token")
            Worker(app, request, gateway, ears, interrupts, out).work()
    finally:
        server.close()
    return 0


class Ears:
    """Takes commands out of the channels. Messages of others stay unread, for the agent's own tool."""

    def __init__(self, app: App, gateway: CommandGateway, out: Output) -> None:
        from hindbrain.agent.channels.unread import Unread

        self._agent, self._gateway, self._out = app.agent, gateway, out
        channels = app.agent.channels()
        owners = {name: app.agent.commanders(name) for name in channels}
        self.commanders = {name: senders for name, senders in owners.items() if senders}
        self._deaf = sorted(owners.keys() - self.commanders.keys())
        self._unread = Unread(app.state, {name: channels[name] for name in self.commanders})
        self._failed: dict[str, str] = {}

    def say_what_is_heard(self) -> None:
        for name in sorted(self.commanders):
            self._out.say(f"taking commands from the channel {name!r}")
        for name in self._deaf:
            self._out.say(f"taking none from the channel {name!r}: agent.toml names no owners of it")

    def look(self) -> int:
        """Returns how many commands there were."""
        try:
            looked = self._unread.unread(_MOST)
            commands = [one for one in looked.messages if one.sender in self.commanders[one.channel]]
            for message in commands:
                if answer := _ANSWER.fullmatch(message.text):
                    self._answer(
                        message, answer[2].lower(), "deny" if answer[1].lower() == "deny" else "allow"
                    )
                elif message.text.strip():
                    self._gateway.submit(message.text, message.channel, message.sender, key=message.id)
                self._unread.mark([message])  # after it is in the queue: a second time it is known by its id
        except HindbrainError as error:
            self._tell_failures({"": str(error)})
            return 0
        self._tell_failures(dict(looked.failed))
        return len(commands)

    def _answer(self, message: Incoming, asked_id: str, decision: Decision) -> None:
        """The owner's word for what waits. Nobody approves what a small screen has shown a part of."""
        asked = next((one for one in self._agent.waiting() if one.id == asked_id), None)
        if asked is not None and decision == "allow" and not is_shown_whole(asked):
            told = f"It is too long to be shown here whole; in a terminal: hindbrain approve {asked_id}"
        else:
            try:
                self._agent.answer(asked_id, decision, by=f"{message.channel}:{message.sender}")
                told = f"{'Allowed' if decision == 'allow' else 'Refused'}: {asked_id}"
            except HindbrainError as error:
                told = str(error)
        self._out.say(safe(f"{message.channel}: {told}"))
        send(
            self._agent,
            f"{message.channel}-{message.id}-answer",
            message.channel,
            message.sender,
            told,
            self._out,
        )

    def _tell_failures(self, failed: dict[str, str]) -> None:
        """Once, until it changes."""
        for name, why in failed.items():
            if self._failed.get(name) != why:
                self._out.warn(safe(f"the channel {name!r}: {why}" if name else why))
        self._failed = failed
