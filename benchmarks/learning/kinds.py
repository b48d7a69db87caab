"""The desktop's tasks, and what its user likes. Data: sixteen kinds of task on eight applications.

In each, what an agent does first is plausible and flawed: a step that often misses, one that is forgotten,
two in the wrong order, a slow detour. A way that works is always among those that the agent can think of.
"""

from __future__ import annotations

from benchmarks.learning.world import Kind, Part, Taste, Way

SITES = (
    "github.com", "news.ycombinator.com", "wikipedia.org", "localhost:3000", "arxiv.org", "bbc.co.uk",
    "docs.python.org", "nytimes.com", "openstreetmap.org", "crates.io",
)  # fmt: skip
TOPICS = (
    "the harbour project", "next week's deadline", "train fares to Lyon", "the budget for March",
    "solar panels", "sourdough", "the garden party", "tax forms", "standing desks", "the release plan",
)  # fmt: skip
PEOPLE = ("Alex", "Maria", "Jonas", "Priya", "Tom", "Wei", "Fatima", "Luca")
REPOS = ("~/code/harbour", "~/code/website", "~/code/atlas", "~/code/notes-app", "~/work/billing")
FILES = ("budget.xlsx", "thesis.docx", "invoice-0417.pdf", "floorplan.png", "minutes.txt", "roadmap.pdf")
EVENTS = ("dentist", "team lunch", "piano lesson", "board meeting", "yoga class", "parents' evening")
DATES = ("March 5", "April 12", "May 30", "June 3", "July 19", "August 8")
SONGS = ("Blue in Green", "Clair de Lune", "Heroes", "Hallelujah", "Nightswimming", "Paper Planes")

TASTES = (
    Taste("browser", "Chrome", "Safari", "", " in {}"),
    Taste("editor", "VS Code", "TextEdit", "By the way, I prefer VS Code over TextEdit."),
    Taste("player", "Spotify", "Apple Music", "", " with {}"),
    Taste("engine", "DuckDuckGo", "Google", "I prefer DuckDuckGo over Google for searching the web."),
    Taste("terminal", "iTerm", "Terminal", "", " in {}"),
    Taste("dates", "ISO dates", "US dates", "I always want ISO dates instead of US dates in my calendar."),
    Taste("theme", "dark mode", "light mode", "I prefer dark mode over light mode in everything I look at."),
    Taste(
        "signature",
        "Cheers, Sam",
        "Best regards",
        "Please always sign my emails with Cheers, Sam instead of Best regards.",
    ),
    Taste("folder", "~/Reports", "~/Documents", "I want exported files in ~/Reports, not in ~/Documents."),
    Taste(
        "address",
        "12 Harbour Street",
        "the office",
        "My address for deliveries is 12 Harbour Street, not the office.",
    ),
)

_BROWSER = Part("opening the browser", (Way(("open_application({browser})",)),))
_URL_BAR = Part(
    "the URL bar",
    (
        Way(("click(URL bar)",), 0.4, "the click missed the URL bar and the address went into the page"),
        Way(("click(bookmark bar)",), 0.0, "a bookmark was opened instead of the address"),
        Way(("press_key(l, command: true)",)),
    ),
)
_SEND = Part(
    "sending",
    (
        Way(("click(Send)",), 0.35, "the mail is still a draft, the click on Send had no effect"),
        Way(("press_key(return, command: true)",), 0.0, "a line break was added and the mail was not sent"),
        Way(("press_key(d, command: true, shift: true)",)),
    ),
)
_SAVE = Part(
    "saving",
    (
        Way((), 0.0, "the file was closed without saving, so the changes are lost"),
        Way(("click(Done)",), 0.0, "there is no button named Done", visible=True),
        Way(("press_key(s, command: true)",)),
    ),
)
_FOLDER = Part(
    "the directory",
    (
        Way((), 0.0, "the command ran in the wrong directory, this is not the repository"),
        Way(("run_shell_command(pwd)",), 0.0, "the working directory was shown but not changed"),
        Way(("run_shell_command(cd {repo})",)),
    ),
)
_TERMINAL = Part("opening the terminal", (Way(("open_application({terminal})",)),))
_CALENDAR = Part("opening the calendar", (Way(("open_application(Calendar)",)),))
_MAIL = Part("opening the mail program", (Way(("open_application(Mail)",)),))


def _typed(name: str, *actions: str) -> Part:
    """A part that always works."""
    return Part(name, (Way(actions),))


KINDS = (
    Kind(
        "open site",
        "browser",
        ("open {site}", "go to {site}", "visit {site}", "pull up {site} please", "navigate to {site}"),
        {"site": SITES},
        (_BROWSER, _URL_BAR, _typed("the address", "type_text({site})", "press_key(return)")),
    ),
    Kind(
        "web search",
        "browser",
        (
            "search the web for {topic}",
            "look up {topic} online",
            "find out about {topic} on the internet",
            "do a web search on {topic}",
        ),
        {"topic": TOPICS},
        (
            _BROWSER,
            _URL_BAR,
            _typed("the query", "type_text({engine} {topic})", "press_key(return)"),
            Part(
                "the results",
                (
                    Way(("click(first result)",), 0.4, "an advertisement was opened instead of a result"),
                    Way(("scroll(down)", "click(first result)"), 0.7, "the page moved under the click"),
                    Way(("press_key(tab)", "press_key(return)")),
                ),
            ),
        ),
    ),
    Kind(
        "order",
        "browser",
        ("order {item} from the shop", "buy {item} in the web shop", "reorder {item} at the shop"),
        {"item": ("coffee beans", "printer paper", "AA batteries", "dish soap", "cat food", "light bulbs")},
        (
            _BROWSER,
            _URL_BAR,
            _typed("the shop", "type_text(shop.example/{item})", "press_key(return)"),
            Part(
                "the checkout",
                (
                    Way(("click(Buy now)",), 0.0, "the express checkout was refused, the card is too old"),
                    Way(("scroll(down)", "click(Wish list)"), 0.0, "it was put on the wish list only"),
                    Way(("click(Add to cart)", "click(Check out)")),
                ),
            ),
            _typed("the address", "type_text({address})", "press_key(return)"),
        ),
    ),
    Kind(
        "send mail",
        "Mail",
        (
            "send {person} an email about {topic}",
            "email {person} about {topic}",
            "write a mail to {person} regarding {topic}",
            "compose an email to {person} on {topic}",
        ),
        {"person": PEOPLE, "topic": TOPICS},
        (
            _MAIL,
            Part(
                "a new message",
                (
                    Way(("click(New Message)",), 0.6, "the element New Message was not found", visible=True),
                    Way(("press_key(n, command: true)",)),
                ),
            ),
            _typed("the recipient", "type_text({person})"),
            Part(
                "the subject field",
                (
                    Way((), 0.0, "the subject was typed into the recipient field"),
                    Way(("press_key(tab)",)),
                ),
            ),
            _typed("the text", "type_text({topic})", "type_text({signature})"),
            _SEND,
        ),
    ),
    Kind(
        "reply",
        "Mail",
        (
            "reply to {person} that {answer}",
            "answer {person}'s last mail: {answer}",
            "tell {person} by mail that {answer}",
        ),
        {
            "person": PEOPLE,
            "answer": ("I will be late", "the offer is fine", "we need another week", "Tuesday works for me"),
        },
        (
            _MAIL,
            Part(
                "finding the mail",
                (
                    Way(
                        ("scroll(down)", "scroll(down)", "scroll(down)", "click(mail from {person})"),
                        0.6,
                        "the mail of somebody else was opened",
                    ),
                    Way(
                        (
                            "press_key(f, command: true, option: true)",
                            "type_text({person})",
                            "press_key(return)",
                        )
                    ),
                ),
            ),
            Part(
                "the reply",
                (
                    Way(("click(Reply All)",), 0.0, "everybody got the answer, not only the sender"),
                    Way(("press_key(r, command: true)",)),
                ),
            ),
            _typed("the text", "type_text({answer})", "type_text({signature})"),
            _SEND,
        ),
    ),
    Kind(
        "edit file",
        "editor",
        (
            "change {old} to {new} in {file}",
            "replace {old} with {new} in {file}",
            "in {file}, {old} should become {new}",
        ),
        {
            "old": ("Monday", "draft", "2025", "colour", "v1"),
            "new": ("Friday", "final", "2026", "color", "v2"),
            "file": FILES,
        },
        (
            _typed("opening the editor", "open_application({editor})"),
            _typed("the file", "press_key(o, command: true)", "type_text({file})", "press_key(return)"),
            Part(
                "replacing",
                (
                    Way(
                        ("press_key(f, command: true)", "type_text({old})", "type_text({new})"),
                        0.0,
                        "the text was only searched for, nothing was replaced",
                    ),
                    Way(
                        (
                            "press_key(h, command: true)",
                            "type_text({old})",
                            "press_key(tab)",
                            "type_text({new})",
                            "press_key(return)",
                        )
                    ),
                ),
            ),
            _SAVE,
            _typed("closing", "press_key(w, command: true)"),
        ),
    ),
    Kind(
        "write note",
        "Notes",
        (
            "write a note titled {title} saying {text}",
            "jot down {text} under {title}",
            "make a note {title} with {text}",
        ),
        {
            "title": ("Groceries", "Ideas", "Packing list", "Questions", "Reading"),
            "text": ("milk and rye bread", "call the plumber", "two warm jumpers", "ask about the lease"),
        },
        (
            _typed("opening Notes", "open_application(Notes)"),
            Part(
                "a new note",
                (
                    Way(("click(New Note)",), 0.4, "the text was added to an older note"),
                    Way(("press_key(n, command: true)",)),
                ),
            ),
            _typed("the title", "type_text({title})"),
            Part(
                "the next line",
                (
                    Way((), 0.0, "title and text stand on one line"),
                    Way(("press_key(tab)",), 0.0, "the text was indented into the title"),
                    Way(("press_key(return)",)),
                ),
            ),
            _typed("the text", "type_text({text})"),
        ),
    ),
    Kind(
        "commit",
        "terminal",
        (
            "commit the changes in {repo} with message {message}",
            "make a commit in {repo}: {message}",
            "git commit {repo} saying {message}",
        ),
        {
            "repo": REPOS,
            "message": ("fix typo", "add tests", "update readme", "bump version", "rename module"),
        },
        (
            _TERMINAL,
            _FOLDER,
            Part(
                "staging",
                (
                    Way((), 0.0, "nothing was staged, so the commit is empty"),
                    Way(("run_shell_command(git stash)",), 0.0, "the changes were stashed away"),
                    Way(("run_shell_command(git add -A)",)),
                ),
            ),
            _typed("the commit", "run_shell_command(git commit -m {message})"),
        ),
    ),
    Kind(
        "run tests",
        "terminal",
        ("run the tests of {repo}", "check that the tests in {repo} pass", "test {repo}"),
        {"repo": REPOS},
        (
            _TERMINAL,
            _FOLDER,
            Part(
                "the environment",
                (
                    Way((), 0.0, "ModuleNotFoundError: the virtual environment was not active"),
                    Way(("run_shell_command(pip install pytest)",), 0.0, "pip was refused", visible=True),
                    Way(("run_shell_command(source .venv/bin/activate)",)),
                ),
            ),
            Part(
                "the tests",
                (
                    Way(("run_shell_command(python -m unittest)",), 0.0, "no tests were collected"),
                    Way(("run_shell_command(pytest -q)",)),
                ),
            ),
        ),
    ),
    Kind(
        "deploy",
        "terminal",
        ("deploy {repo} to staging", "ship {repo} to the staging server", "put {repo} on staging"),
        {"repo": REPOS},
        (
            _TERMINAL,
            _FOLDER,
            Part(
                "order of build and push",
                (
                    Way(
                        ("run_shell_command(make push)", "run_shell_command(make build)"),
                        0.0,
                        "an old build was pushed, the new one was made too late",
                    ),
                    Way(("run_shell_command(make push)",), 0.0, "there was no build to push", visible=True),
                    Way(("run_shell_command(make build)", "run_shell_command(make push)")),
                ),
            ),
        ),
    ),
    Kind(
        "find file",
        "Finder",
        ("find {file} on my computer", "where is {file}", "locate the file {file}"),
        {"file": FILES},
        (
            Part(
                "looking",
                (
                    Way(
                        (
                            "open_application(Finder)",
                            "scroll(down)",
                            "scroll(down)",
                            "scroll(down)",
                            "click({file})",
                        ),
                        0.5,
                        "another file of a similar name was chosen",
                    ),
                    Way(("run_shell_command(find / -name {file})",), 0.0, "the search took too long"),
                    Way(("press_key(space, command: true)", "type_text({file})", "press_key(return)")),
                ),
            ),
        ),
    ),
    Kind(
        "export",
        "Finder",
        ("export {file} as PDF", "make a PDF of {file}", "turn {file} into a PDF"),
        {"file": FILES},
        (
            _typed("opening it", "open_application(Preview)", "type_text({file})", "press_key(return)"),
            Part(
                "exporting",
                (
                    Way(("press_key(p, command: true)",), 0.0, "it was sent to the printer, not exported"),
                    Way(("press_key(s, command: true)",), 0.0, "it was saved in its old format"),
                    Way(("click(File menu)", "click(Export as PDF)")),
                ),
            ),
            _typed("the folder", "type_text({folder})", "press_key(return)"),
        ),
    ),
    Kind(
        "add event",
        "Calendar",
        (
            "add {event} on {date} to my calendar",
            "schedule {event} for {date}",
            "put {event} into the calendar on {date}",
        ),
        {"event": EVENTS, "date": DATES},
        (
            _CALENDAR,
            Part(
                "a new event",
                (
                    Way(("click(day {date})",), 0.3, "the event stands on the wrong day"),
                    Way(("click(Today)",), 0.0, "the event was made for today"),
                    Way(("press_key(n, command: true)",)),
                ),
            ),
            _typed("the event", "click({dates})", "type_text({event} {date})", "press_key(return)"),
        ),
    ),
    Kind(
        "cancel event",
        "Calendar",
        ("cancel the {event}", "delete the {event} from my calendar", "take the {event} off the calendar"),
        {"event": EVENTS},
        (
            _CALENDAR,
            _typed("the event", "press_key(f, command: true)", "type_text({event})", "press_key(return)"),
            Part(
                "deleting",
                (
                    Way(("click(Hide)",), 0.0, "the event was only hidden"),
                    Way(("press_key(delete)", "press_key(return)")),
                    Way(("press_key(delete)",), 0.0, "a dialog asked to confirm and nothing was deleted"),
                ),
            ),
        ),
    ),
    Kind(
        "play music",
        "player",
        ("play {song}", "put on {song}", "I want to hear {song}"),
        {"song": SONGS},
        (
            _typed("opening the player", "open_application({player})"),
            Part(
                "the search field",
                (
                    Way(("click(search field)",), 0.4, "the click hit the play queue"),
                    Way(("press_key(k, command: true)",)),
                ),
            ),
            _typed("the song", "type_text({song})"),
            Part(
                "playing",
                (
                    Way(("click(album cover)",), 0.0, "the album is shown, but nothing plays"),
                    Way(("press_key(return)", "press_key(return)")),
                ),
            ),
        ),
    ),
    Kind(
        "slides",
        "Keynote",
        ("make a slide deck about {topic}", "create a presentation on {topic}", "draft slides on {topic}"),
        {"topic": TOPICS},
        (
            _typed("opening Keynote", "open_application(Keynote)"),
            _typed("the theme", "click({theme})"),
            Part(
                "the title",
                (
                    Way(("type_text({topic})",), 0.2, "no text box was chosen, the title was lost"),
                    Way(("click(title box)", "type_text({topic})")),
                ),
            ),
            _SAVE,
        ),
    ),
)
