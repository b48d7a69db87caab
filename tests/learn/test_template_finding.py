"""Three successes alike make a template; what varies is a slot, and what is not common is left out."""

from __future__ import annotations

import random

from template_runs import act, mail, mails, run, shown, visits

from hindbrain.learn.runs.episode import Rejection
from hindbrain.learn.templates.finding import find_templates, note_name
from hindbrain.learn.templates.slots import filled
from hindbrain.learn.templates.steps import marks_of
from hindbrain.learn.templates.trigger import fires
from hindbrain.models.fake import FakeEmbedder
from hindbrain.models.static import load_static


def test_three_successes_alike_make_a_template_and_two_do_not() -> None:
    assert find_templates(mails(2), None) == []
    [template] = find_templates(mails(3), None)
    assert (template.runs, template.successes, template.avg_iterations) == (3, 3, 4.0)
    assert template.evidence == ("r-0001", "r-0002", "r-0003")


def test_what_varies_and_stands_in_the_command_becomes_a_named_slot() -> None:
    [template] = find_templates(mails(4), None)
    assert shown(template.steps) == [
        "open_application(Mail)",
        "press_key(n, command: true)",
        "type_text({recipient})",
        "press_key(tab)",
        "type_text({topic})",
        "press_key(d, command: true, shift: true)",
    ]
    assert template.title == "Send an email to {recipient} about {topic}"
    assert [(slot.name, slot.in_command) for slot in template.slots] == [("recipient", True), ("topic", True)]


def test_the_same_value_in_two_steps_is_the_same_slot() -> None:
    runs = [
        run(i, f"rename {old} to {new}", act("click", element=old), act("rename", source=old, target=new))
        for i, (old, new) in enumerate([("a.txt", "b.txt"), ("c.md", "d.md"), ("e.csv", "f.csv")])
    ]
    [template] = find_templates(runs, None)
    first, second = template.steps
    assert dict(first.arguments)["element"] == dict(second.arguments)["source"]
    assert len(template.slots) == 2


def test_what_varies_and_is_not_in_the_command_is_found_on_the_way() -> None:
    runs = [
        run(i, "cancel my flight", act("find_booking"), act("cancel", booking=f"AB{i}C{i}")) for i in range(3)
    ]
    [template] = find_templates(runs, None)
    assert shown(template.steps) == ["find_booking()", "cancel({booking})"]
    assert [slot.in_command for slot in template.slots] == [False]


def test_an_id_is_never_part_of_a_step() -> None:
    runs = [run(i, "cancel my flight", act("cancel", booking_id="SI5UKW")) for i in range(3)]
    [template] = find_templates(runs, None)
    assert shown(template.steps) == ["cancel({booking_id})"]


def test_a_value_can_be_woven_from_several_parts_of_the_command() -> None:
    said = [("lunch with Ana", "Monday"), ("the review", "Tuesday"), ("a haircut", "Friday")]
    runs = [
        run(i, f'add "{what}" to my calendar on {day}', act("add_event", text=f"{what} @ {day}"))
        for i, (what, day) in enumerate(said)
    ]
    [template] = find_templates(runs, None)
    assert shown(template.steps) == ["add_event({text} @ {text_2})"]


def test_runs_that_did_something_else_are_no_part_of_it() -> None:
    runs = mails(6)
    extra = act("click", element="Bold")
    runs[0] = runs[0]._replace(actions=(*runs[0].actions[:4], extra, *runs[0].actions[4:]))
    for i in (1, 2):
        runs[i] = runs[i]._replace(actions=runs[i].actions[:5])  # without sending
    [template] = find_templates(runs, None)
    assert shown(template.steps) == shown(find_templates(mails(3), None)[0].steps)
    assert template.evidence == tuple(episode.run for episode in runs[3:])


def test_a_step_that_is_repeated_as_often_as_needed_stands_once() -> None:
    runs = [
        run(
            i, "check my bookings please", act("login"),
            *(act("open_booking", booking=f"X{i}{n}Z") for n in range(i + 1)), act("logout"),
        )
        for i in range(4)
    ]  # fmt: skip
    [template] = find_templates(runs, None)
    assert shown(template.steps) == ["login()", "open_booking({booking})", "logout()"]
    assert [step.many for step in template.steps] == [False, True, False]


def test_two_fields_that_every_run_fills_are_two_steps() -> None:
    runs = [
        run(i, f"log in as {who} with {word}", act("type_text", text=who), act("type_text", text=word))
        for i, (who, word) in enumerate([("ann", "blue"), ("ben", "green"), ("cat", "yellow")])
    ]
    [template] = find_templates(runs, None)
    assert len(template.steps) == 2


def test_failures_weak_successes_and_failed_calls_teach_nothing() -> None:
    good = mails(2)
    weak = mail(3, "Dave", "the budget", score=79)
    failed = mail(4, "Eve", "the budget", outcome="failed", score=20)
    assert find_templates([*good, weak, failed], None) == []
    slip = act("click", element="Trash")._replace(ok=False)
    slipped = [e._replace(actions=(slip, *e.actions)) for e in (*good, mail(5, "Dave", "the budget"))]
    [template] = find_templates(slipped, None)
    assert "click(Trash)" not in shown(template.steps)


def test_runs_that_have_nothing_in_common_but_their_command_make_no_template() -> None:
    runs = [run(i, "tidy up my desk", act(f"do_{i}", what=str(i)), act(f"then_{i}")) for i in range(5)]
    assert find_templates(runs, None) == []


def test_commands_of_all_kinds_that_used_the_same_tool_make_no_template() -> None:
    done = {
        "deploy the shop to staging": "make deploy",
        "restart the mail queue": "systemctl restart queue",
        "export the invoices of last month": "python export.py",
        "rotate the logs of the proxy": "logrotate -f proxy.conf",
        "resize the product photos": "mogrify -resize 800 photos",
        "tag a new release": "git tag",
    }
    runs = [run(i, command, act("Bash", command=call)) for i, (command, call) in enumerate(done.items())]
    assert find_templates(runs, load_static()) == []


def test_looking_alone_is_no_way_to_do_something() -> None:
    runs = [run(i, "what is on my screen", act("take_screenshot")) for i in range(4)]
    assert find_templates(runs, None) == []


def test_of_a_run_that_began_anew_only_what_was_not_rejected_is_copied() -> None:
    runs = []
    for episode in mails(3):
        missed = (episode.actions[0], act("click", element="Trash"))
        again = episode._replace(actions=(*missed, *episode.actions), rejections=(Rejection("lost", 20, 2),))
        runs.append(again)
    [template] = find_templates(runs, None)
    assert "click(Trash)" not in shown(template.steps)
    assert shown(template.steps).count("open_application(Mail)") == 1


def test_of_two_ways_the_one_that_goes_well_more_often_is_kept() -> None:
    """Most who succeeded clicked; but most who clicked failed."""
    clicked = [e._replace(actions=(*e.actions[:5], act("click", element="Send"))) for e in mails(6, 10)]
    failed = [e._replace(outcome="failed", score=10) for e in clicked]
    keyed = mails(4, 30)
    [template] = find_templates([*clicked, *failed, *failed, *keyed], None)
    assert shown(template.steps)[-1] == "press_key(d, command: true, shift: true)"


def test_another_button_is_another_way() -> None:
    runs = [
        run(i, "start the weekly report", act("open_application", name="Word"),
            act("click", element=("A", "A", "B", "B", "A", "C")[i]), act("press_key", key="s"))
        for i in range(6)
    ]  # fmt: skip
    [template] = find_templates(runs, None)
    assert shown(template.steps) == ["open_application(Word)", "click(A)", "press_key(s)"]


def test_a_command_line_is_the_same_step_whatever_a_host_calls_its_shell() -> None:
    ways = [("Bash", "command"), ("run_shell_command", "argv"), ("exec", "cmd")]
    runs = [
        run(
            i,
            f"test ~/code/{name}",
            *(act(tool, **{key: line}) for line in (f"cd ~/code/{name}", "npm test")),
        )
        for i, ((tool, key), name) in enumerate(zip(ways, ("atlas", "site", "app"), strict=True))
    ]
    [template] = find_templates(runs, None)
    assert shown(template.steps) == ["cd {path}", "npm test"]


def test_looks_at_the_screen_are_kept_at_the_end_only() -> None:
    look = act("take_screenshot")
    runs = [e._replace(actions=tuple(a for action in e.actions for a in (action, look))) for e in mails(3)]
    [template] = find_templates(runs, None)
    assert shown(template.steps).count("take_screenshot()") == 1
    assert shown(template.steps)[-1] == "take_screenshot()"


def test_an_address_is_a_slot_of_its_own_kind() -> None:
    runs = [mail(i, f"{who}@example.org", "lunch today") for i, who in enumerate(("ann", "bob", "eve"))]
    [template] = find_templates(runs, None)
    assert template.slots[0].kind == "email"
    assert (
        shown(filled(template, "send an email to zoe@other.net about lunch"))[2] == "type_text(zoe@other.net)"
    )


def test_kinds_of_commands_and_applications_are_kept_apart() -> None:
    runs = [*mails(4), *visits(4)]
    random.Random(1).shuffle(runs)
    assert {template.app for template in find_templates(runs, load_static())} == {"Mail", "Chrome"}


def test_commands_of_two_kinds_are_two_templates_even_where_the_same_is_done() -> None:
    press = act("press_button")
    runs = [run(i, ("feed the cat", "water all plants")[i % 2], press) for i in range(8)]
    assert len(find_templates(runs, None)) == 2


def test_paraphrases_that_do_the_same_are_one_template_with_a_trigger_for_each() -> None:
    asked = ["send {p} an email about {t}", "email {p} about {t}", "write an email to {p} about {t}",
             "compose an email to {p} regarding {t}"]  # fmt: skip
    people = [("Anna", "the budget"), ("Bob", "Q3 planning"), ("Dave", "the office")]
    commands = [(form.format(p=p, t=t), p, t) for form in asked for p, t in people]
    runs = [mail(i, p, t, command=said) for i, (said, p, t) in enumerate(commands)]
    [template] = find_templates([*runs, *visits(3)], load_static())[:1]
    assert template.runs == 12
    assert all(fires(template.trigger, said) for said, _, _ in commands)
    assert not fires(template.trigger, "go to github.com in the browser")
    assert "anna" not in template.trigger.lower()


def test_the_same_episodes_give_the_same_templates() -> None:
    runs = [*mails(8), *visits(6)]
    assert find_templates(runs, FakeEmbedder()) == find_templates(list(runs), FakeEmbedder())


def test_what_is_learned_has_the_lowest_trust_of_its_runs() -> None:
    runs = mails(3)
    runs[1] = runs[1]._replace(source="import")
    [template] = find_templates(runs, None)
    assert template.source == "import"


def test_a_note_can_be_called_so_on_every_system() -> None:
    assert note_name("Open {url}: a/b \\ <c>|?*") == "Open url a b c"
    assert note_name("CON") == "Template CON"
    assert note_name("…") == "Template"


def test_a_way_of_saying_it_is_among_the_commands_however_old_it_is() -> None:
    first = mail(0, "Zoe", "lunch", command="mail Zoe about lunch")
    people = ["Anna", "Bob", "Carol", "Dave", "Eve", "Finn", "Gus", "Hal", "Ida", "Jo"]
    runs = [first, *(mail(1 + i, who, "lunch") for i, who in enumerate(people))]
    [template] = find_templates(runs, load_static())
    assert "mail Zoe about lunch" in template.commands


def test_runs_that_share_only_the_opening_of_an_application_make_no_template() -> None:
    said = {
        "git commit ~/code/notes saying fix typo": [
            "cd ~/code/notes",
            "git add -A",
            "git commit -m fix typo",
        ],
        "deploy ~/code/site to staging": ["cd ~/code/site", "make build", "make push"],
        "test ~/code/site": ["cd ~/code/site", "source .venv/bin/activate", "pytest -q"],
        "check that the tests in ~/code/app pass": [
            "cd ~/code/app",
            "source .venv/bin/activate",
            "pytest -q",
        ],
    }
    runs = [
        run(i, command, act("open_application", name="Terminal"), act("take_screenshot"),
            *(act("run_shell_command", command=line) for line in lines), act("take_screenshot"))
        for i, (command, lines) in enumerate(said.items())
    ]  # fmt: skip
    assert find_templates(runs, load_static()) == []


def test_what_names_the_deed_is_not_taken_from_the_command() -> None:
    commit = act("run_shell_command", command="git commit -m fix typo")
    assert marks_of(commit, "git commit ~/a saying fix typo") == {"command=git commit -m <said>"}
    assert marks_of(act("press_key", key="delete"), "delete the lesson") == {"key=delete"}
    opened = act("open_application", name="Calendar")
    assert marks_of(opened, "add it to my calendar") == marks_of(opened, "schedule it")
