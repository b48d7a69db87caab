"""The commands of `hindbrain`, as data: a name, a line of help, the module that knows the rest.

A module has `configure(parser)`, which adds its options, and `run(args, out)`, which returns the exit code.
Only the module of the command that is called is imported, and `hindbrain --help` imports none: starting must
cost nothing.
"""

COMMANDS: tuple[tuple[str, str], ...] = (
    ("init", "make a folder a vault that Hindbrain knows again after a move"),
    ("sync", "bring the search index up to date with the notes"),
    ("search", "find passages by words, meaning, names and dates"),
    ("remember", "store one fact in the vault's memory"),
    ("recall", "show what is known on a topic: memories, then passages of notes"),
    ("forget", "take a memory out, and do not learn it again"),
    ("inbox", "decide on what an agent would like to remember and may not without you"),
    ("context", "show what would be put into an agent's prompt, why, and what it costs"),
    ("run", "let the agent carry out a command, with your vault as its memory"),
    ("chat", "talk with the agent, line by line; also in a pipe"),
    ("approve", "decide on what the agent would do and may not without you"),
    ("learn", "make lessons and templates of the runs that are over"),
    ("lessons", "show what runs have taught to avoid, and which lessons fit a command"),
    ("templates", "show ways of doing a task that worked, and which fits a command"),
    ("skills", "show the skills of the vault, and which fit a command"),
    ("runs", "show what agents did, run by run; resume one; import runs of others"),
    ("stats", "show how runs go over time, and the five success metrics"),
    ("consolidate", "make facts of old days, archive what is old, and prove that nothing is lost"),
    ("read", "print a note, a section or a block of it"),
    ("note", "read, write or append to a note; new ones go where an agent's tools would put them"),
    ("watch", "keep the index up to date while notes change"),
    ("status", "show the vault, its index and what the last sync left out"),
    ("doctor", "check everything; --fix mends the index, never a note"),
    ("eval", "measure search, recall and the gate with questions made from your own notes"),
    ("task", "add, list and change the tasks that you and your agents share"),
    ("daily", "read the note of a day, or add a line to today's"),
    ("links", "show who links to a note and what is related; report broken links and orphans"),
    ("lint", "find what is broken in notes, and mend what needs no decision"),
    ("history", "list the changes that Hindbrain made to notes"),
    ("undo", "take back the last action, byte for byte; again: the one before"),
    ("redo", "bring back what was undone"),
    ("up", "start the background process that answers hooks at once; status, stop"),
    ("hook", "make agent hosts call Hindbrain at each prompt and stop; status, install, settle, log"),
    ("mcp", "serve the memory to agents over MCP; install, uninstall, token"),
    ("openclaw", "make the vault OpenClaw's memory; status, install, uninstall, import"),
    ("config", "show or change settings"),
    ("demo", "try it on a small sample vault, without touching yours"),
    ("completion", "print the completion script of a shell"),
)
# These do many things one after the other; each of them is an action of its own.
LASTING = ("chat", "mcp", "up", "watch")
NAMES = tuple(name for name, _ in COMMANDS)


def help_of(name: str) -> str:
    return next(text for known, text in COMMANDS if known == name)
