"""Whose word a note is, as a pack says it: only an address or a mark of the web makes it "from the web"."""

from __future__ import annotations

from command_runs import Cli
from workbench import Vault

# Values as they stand in public vaults; the name of each note says what it is.
OWN = {
    "session": "source: claude-code-session",
    "spoken": "source: interview with Bob",
    "book": "source: '[[Walden]]'",
    "made": "source: synthesis",
    "path": "source: raw/notes/2024.pdf",
    "slug": "url: /posts/lantern\nlink: '[[Home]]'",
    "list": "source:\n  - '[[Walden]]'\n  - page 12",
    "empty": "source:\nurl: ''",
    "plain": "type: note\ntags: [web, development]",
}
FROM_THE_WEB = {
    "page": "source: https://paulgraham.com/identity.html",
    "marked": "source: '[creative fiction](https://gwern.net/gpt-3)'",
    "listed": "source:\n  - https://en.wikipedia.org/wiki/Lantern",
    "old": "url: http://example.org",
    "stated": "source: web",
    "tagged": "tags: [clippings, lamps]",
    "nested": "tags: [reading/web-clip]",
    "typed": "type: clipping",
    "kept": "categories:\n  - '[[Clippings]]'",
}


def test_only_an_address_or_a_mark_of_the_web_makes_a_note_the_webs(cli: Cli, vault: Vault) -> None:
    for name, properties in (OWN | FROM_THE_WEB).items():
        vault.write(f"{name}.md", f"---\n{properties}\n---\nThe lantern called {name} is brass.\n")
    vault.write("web/site.md", "The lantern called site is brass.\n")
    vault.write("Clippings/cut.md", "The lantern called cut is brass.\n")
    cli("sync")
    sources: dict[str, str] = {}
    for name in (*OWN, *FROM_THE_WEB, "site", "cut"):
        pack = cli("context", f"the lantern called {name}", "--json").data["pack"]
        excerpts = [excerpt for slot in pack["slots"] for excerpt in slot["excerpts"]]
        sources |= {excerpt["path"]: excerpt["source"] for excerpt in excerpts}
    assert len(sources) == len(OWN) + len(FROM_THE_WEB) + 2
    web = {path for path, source in sources.items() if source == "web"}
    assert web == {*(f"{name}.md" for name in FROM_THE_WEB), "Clippings/cut.md"}
    assert set(sources.values()) == {"user", "web"}
