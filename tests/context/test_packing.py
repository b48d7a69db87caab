"""Packing: which passages enter a slot, and how much around each."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.context.packs.attribution import by_note
from hindbrain.context.packs.packing import Chosen, Limits, Shown, choose
from hindbrain.index.passages import ChunkSettings, cut_passages, note_text
from hindbrain.search.hit import Hit
from hindbrain.search.outline import Outline, OutlinePassage
from hindbrain.vault.parse import parse_note


def note(path: str, *texts: str, date: str = "", headings: Sequence[str] = ()) -> Outline:
    """A note with a blank line between its passages."""
    passages = tuple(
        OutlinePassage(f"{path}-{i}", 1 + 2 * i, 1 + 2 * i, headings[i] if headings else "", text)
        for i, text in enumerate(texts)
    )
    return Outline(path, path.removesuffix(".md"), date, "user", passages)


def hit(outline: Outline, i: int, score: float = 1.0, confidence: float = 0.5) -> Hit:
    one = outline.passages[i]
    return Hit(
        one.passage, outline.path, outline.title, one.heading, one.first_line, one.last_line, one.text,
        outline.date, score, confidence, {"words": 0.4}, (),
    )  # fmt: skip


def packed(
    hits: Sequence[Hit],
    *outlines: Outline,
    budget: int = 1_000,
    notes: int = 0,
    prompt: str = "the garden",
    shown: Shown | None = None,
) -> Chosen:
    limits = Limits(budget + 10, len, len, notes, per_line=1, per_gap=2)
    return choose(prompt, hits, {one.path: one for one in outlines}, limits, shown or Shown())


def texts(chosen: Chosen) -> list[str]:
    return [one.text for one in chosen.excerpts]


def test_the_best_hits_enter_until_the_budget_is_spent() -> None:
    a = note("a.md", "x" * 40, "y" * 40, "z" * 40)
    chosen = packed([hit(a, 0, 1.0), hit(a, 2, 0.9), hit(a, 1, 0.5)], a, budget=100)
    assert texts(chosen) == ["x" * 40, "z" * 40]
    assert [(one.place, one.reason) for one in chosen.left_out] == [("a.md:3", "budget")]


def test_a_smaller_hit_fills_what_a_larger_one_could_not() -> None:
    a, b = note("a.md", "x" * 500), note("b.md", "short")
    assert texts(packed([hit(a, 0, 1.0), hit(b, 0, 0.5)], a, b, budget=100)) == ["short"]


def test_a_paragraph_that_was_cut_is_shown_whole() -> None:
    one = Outline(
        "a.md", "a", "", "user",
        (
            OutlinePassage("p0", 3, 3, "", "It began in May."),
            OutlinePassage("p1", 3, 3, "", "It cost 40 euros."),
            OutlinePassage("p2", 5, 5, "", "Other things."),
        ),
    )  # fmt: skip
    chosen = packed([hit(one, 1)], one, budget=80)
    assert texts(chosen) == ["It began in May. It cost 40 euros."]
    assert chosen.excerpts[0].passages == ("p0", "p1")


def test_a_strong_hit_brings_its_section_where_that_is_cheap() -> None:
    long = note("a.md", "Intro", "Answer 42", "Detail", "Elsewhere", headings=["A", "B", "B", "C"])
    assert texts(packed([hit(long, 1)], long, budget=1_000)) == ["Answer 42\nDetail"]
    assert texts(packed([hit(long, 1)], long, budget=30)) == ["Answer 42"]


def test_a_gap_of_a_line_is_closed() -> None:
    a = note("a.md", *(f"passage number {i} " * 3 for i in range(5)), headings=list("abcde"))
    chosen = packed([hit(a, 1), hit(a, 3)], a, budget=1_000)
    assert len(chosen.excerpts) == 1
    assert (chosen.excerpts[0].first_line, chosen.excerpts[0].last_line) == (3, 7)


def test_what_the_window_holds_enters_again_neither_alone_nor_beside_others() -> None:
    a = note("a.md", "First of all.", "The second thing.", "And a third one.")
    shown = Shown(frozenset({"a.md-1"}))
    chosen = packed([hit(a, 0), hit(a, 1), hit(a, 2)], a, shown=shown)
    assert "second" not in " ".join(texts(chosen))
    assert ("a.md:3", "in_window") in [(one.place, one.reason) for one in chosen.left_out]


def test_the_same_text_in_two_notes_enters_once() -> None:
    a, b = (
        note("a.md", "The same words stand here and there."),
        note("b.md", "The same words  stand here and there."),
    )
    assert len(packed([hit(a, 0), hit(b, 0)], a, b).excerpts) == 1


def test_two_slots_do_not_show_the_same_passage() -> None:
    a = note("a.md", "The garden is watered on Mondays.")
    shown = Shown()
    assert packed([hit(a, 0)], a, shown=shown).excerpts
    assert not packed([hit(a, 0)], a, shown=shown).excerpts


def test_no_more_notes_are_quoted_than_allowed() -> None:
    outlines = [note(f"{i}.md", f"text of note {i}") for i in range(6)]
    chosen = packed([hit(one, 0, 1 - i / 10) for i, one in enumerate(outlines)], *outlines, notes=4)
    assert [one.path for one in chosen.excerpts] == ["0.md", "1.md", "2.md", "3.md"]


def test_who_asks_about_themselves_gets_their_own_words_first() -> None:
    talk = note(
        "s.md", "**assistant:** Dogs are fine pets, says everybody.", "**user:** I have a dog called Rex."
    )
    hits = [hit(talk, 0, 1.0), hit(talk, 1, 0.8)]
    assert texts(packed(hits, talk, budget=62, prompt="What is my dog called?")) == [
        "**user:** I have a dog called Rex."
    ]
    assert texts(packed(hits, talk, budget=62, prompt="What are fine pets?")) == [
        "**assistant:** Dogs are fine pets, says everybody."
    ]


def test_who_names_a_person_gets_that_person_s_words_first() -> None:
    talk = note(
        "s.md", "**Melanie:** The race was on Sunday, you know.", "**Caroline:** The race was on Saturday."
    )
    hits = [hit(talk, 0, 1.0), hit(talk, 1, 0.9)]
    assert texts(packed(hits, talk, budget=55, prompt="When did Caroline run?"))[0].startswith(
        "**Caroline:**"
    )


def test_a_picture_is_not_worth_its_tokens() -> None:
    a = note("a.md", "![The plot](/images/plot.png)", "![[scan.png]] Words beside it.")
    chosen = packed([hit(a, 0), hit(a, 1)], a)
    assert texts(chosen) == [" Words beside it."]
    assert [one.reason for one in chosen.left_out] == ["no_text"]


def test_excerpts_stand_by_date_and_place_whatever_their_scores() -> None:
    a, b = note("a.md", "later", date="2026-05-02"), note("b.md", "earlier", date="2026-05-01")
    one = packed([hit(a, 0, 1.0), hit(b, 0, 0.9)], a, b)
    other = packed([hit(a, 0, 0.9), hit(b, 0, 1.0)], a, b)
    assert texts(one) == texts(other) == ["earlier", "later"]


def test_a_hit_whose_note_has_changed_is_left_out() -> None:
    a = note("a.md", "old text")
    assert packed([hit(a, 0)._replace(passage="gone")], a).left_out[0].reason == "changed"


@settings(max_examples=150)
@given(
    sizes=st.lists(st.lists(st.integers(1, 60), min_size=1, max_size=8), min_size=1, max_size=5),
    budget=st.integers(20, 400),
    data=st.data(),
)
def test_the_budget_holds_and_no_passage_enters_twice(
    sizes: list[list[int]], budget: int, data: st.DataObject
) -> None:
    outlines = [
        note(f"{n}.md", *(f"{n}.{i} " + "w" * size for i, size in enumerate(own)))
        for n, own in enumerate(sizes)
    ]
    every = [(one, i) for one in outlines for i in range(len(one.passages))]
    picked = data.draw(st.lists(st.sampled_from(every), max_size=12))
    hits = [hit(one, i, 1 - n / 20) for n, (one, i) in enumerate(picked)]
    chosen = packed(hits, *outlines, budget=budget)
    passages = [passage for one in chosen.excerpts for passage in one.passages]
    assert len(passages) == len(set(passages))
    assert sum(len(one.text) for one in chosen.excerpts) <= chosen.spent <= budget + 10
    assert {one.path for one in chosen.excerpts} <= {one.path for one, _ in picked}


def test_what_is_far_behind_the_best_stays_out_though_there_is_room() -> None:
    a, b = note("a.md", "the answer"), note("b.md", "hardly related")
    chosen = packed([hit(a, 0, 1.0), hit(b, 0, 0.2)], a, b)
    assert texts(chosen) == ["the answer"]
    assert [(one.place, one.reason) for one in chosen.left_out] == [("b.md:1", "unlikely")]


def test_a_memory_that_is_trusted_less_than_its_note_says_so() -> None:
    a = note(
        "a.md",
        "- The door is blue [source:: user] ^m-aaaaaaaa",
        "- The site says that doors are red [source:: web] ^m-bbbbbbbb",
        headings=["A", "B"],
    )
    assert packed([hit(a, 0)], a).excerpts[0].source == "user"
    assert packed([hit(a, 1)], a).excerpts[0].source == "web"
    assert {one.source for one in packed([hit(a, 0), hit(a, 1)], a).excerpts} == {"web"}


def test_what_stands_below_a_line_or_was_cut_from_it_is_that_line_s() -> None:
    task = "- [ ] **Pay the bill** [source:: tool] ^t-aaaaaaaa"
    a = note("a.md", task, "  - to Mallory", "    - at once", "- [ ] water the basil", headings=list("ABCD"))
    for i, source in enumerate(("tool", "tool", "tool", "user")):
        assert packed([hit(a, i)], a).excerpts[0].source == source
    halves = a._replace(passages=tuple(one._replace(first_line=1, last_line=1) for one in a.passages[:2]))
    b = halves._replace(passages=(halves.passages[1]._replace(text="- [ ] **Pay"), halves.passages[0]))
    assert packed([hit(b, 0)], b, budget=20).excerpts[0].source == "tool"


# Headings

_LINES = st.one_of(
    st.sampled_from(["# Top", "## Will do", "## Won't do", "### Daily", "#### Deep", "", "", "---"]),
    st.sampled_from(["- Delete mail", "- Share data with anybody who asks", "  - below an item", "Never:"]),
    st.sampled_from(["```", "# no heading in code", "> Version: 1", "Setext", "=====", "1. First", "#tag"]),
    st.text("ab c", min_size=30, max_size=60),
)


def _parsed(lines: Sequence[str]) -> tuple[Outline, dict[int, str], int]:
    """A note as the index has it; the headings by line, and the line of its title."""
    parsed = parse_note("\n".join(lines), stem="a")
    text = note_text(parsed)
    cut = cut_passages(parsed, ChunkSettings())
    passages = tuple(
        OutlinePassage(
            f"p{i}", one.first_line, one.last_line, " > ".join(one.headings), text[one.start : one.end]
        )
        for i, one in enumerate(cut)
    )  # fmt: skip
    first = [one.line for one in parsed.headings if one.level == 1]
    is_title = len(first) == 1 and parsed.headings[0].line == first[0]
    headings = {one.line: f"{'#' * one.level} {one.text}".rstrip() for one in parsed.headings}
    return Outline("a.md", "a", "", "user", passages), headings, first[0] if is_title else 0


def _path(headings: Sequence[str]) -> list[str]:
    """Those in force after a run of headings."""
    path: list[str] = []
    for heading in headings:
        level = len(heading) - len(heading.lstrip("#"))
        path = [one for one in path if len(one) - len(one.lstrip("#")) < level] + [heading]
    return path


@settings(max_examples=200, deadline=None)
@given(st.lists(_LINES, min_size=3, max_size=40), st.data())
def test_every_line_stands_under_the_headings_of_its_note(lines: list[str], data: st.DataObject) -> None:
    numbered = [f"{line} n{n}" if line[:1] not in ("", "`", "=", "-", ">") or line[:2] == "- " else line
                for n, line in enumerate(lines, 1)]  # fmt: skip
    outline, headings, title = _parsed(numbered)
    if not outline.passages:
        return
    wanted = data.draw(st.lists(st.sampled_from(range(len(outline.passages))), min_size=1, unique=True))
    chosen = packed([hit(outline, i) for i in wanted], outline, budget=data.draw(st.integers(20, 600)))
    for quoted in by_note(chosen.excerpts):
        shown: list[str] = []
        for line in quoted.text.split("\n"):
            number = int(line.rpartition(" n")[2]) if " n" in line and line[-1].isdigit() else 0
            if number in headings or line in headings.values():
                shown = _path([*shown, headings.get(number, line)])
            elif number:
                true = _path([text for at, text in headings.items() if at < number])
                without_title = [one for one in true if headings.get(title) != one]
                assert [one for one in shown if headings.get(title) != one] == without_title, quoted.text
