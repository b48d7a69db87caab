"""Filters let through the notes for which every one of them holds."""

from __future__ import annotations

import pytest

from hindbrain.base.errors import UsageError
from hindbrain.search.query import Filters, SearchQuery
from workbench import Bench

DAY = 86_400.0


@pytest.fixture
def filed(plain: Bench) -> Bench:
    write = plain.vault.write
    write("Projects/Roof/plan.md", "---\ntype: plan\ntags: [home/roof]\ndate: 2026-05-01\n---\n\nzebra one\n")
    write("Projects/Roofing.md", "zebra two #home\n", at=1_767_225_600.0 + 12 * 3_600)  # 2026-01-01
    write("Areas/Health/run.md", "---\ntype: log\ntags: HOME\n---\n\nzebra three\n")
    write("Archive/old.md", "---\ndate: 2020-02-29\n---\n\nzebra four\n")
    write("100%/under_score.md", "zebra five #homestead\n")
    plain.sync()
    return plain


def names(bench: Bench, **filters: object) -> set[str]:
    query = SearchQuery("zebra", filters=Filters(**filters))  # type: ignore[arg-type]
    return {path.rpartition("/")[2].removesuffix(".md") for path in bench.paths(query)}


def test_without_filters_all_notes_pass(filed: Bench) -> None:
    assert names(filed) == {"plan", "Roofing", "run", "old", "under_score"}


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("Projects", {"plan", "Roofing"}),
        ("Projects/", {"plan", "Roofing"}),
        ("/Projects/Roof", {"plan"}),
        ("Projects/Roof", {"plan"}),
        ("100%", {"under_score"}),
        ("%", set()),
        ("Project_", set()),
        ("projects'; DROP TABLE note; --", set()),
        ("\ud800", set()),
        ("\0", set()),
    ],
)
def test_a_folder_is_that_folder_and_what_is_below_it(filed: Bench, folder: str, expected: set[str]) -> None:
    assert names(filed, folder=folder) == expected


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        (("home",), {"plan", "Roofing", "run"}),
        (("#Home",), {"plan", "Roofing", "run"}),
        (("home/roof",), {"plan"}),
        (("home", "home/roof"), {"plan"}),
        (("hom",), set()),
        (("\ud800",), set()),
    ],
)
def test_a_tag_answers_for_those_nested_in_it_in_any_case(
    filed: Bench, tags: tuple[str, ...], expected: set[str]
) -> None:
    assert names(filed, tags=tags) == expected


def test_type_and_para_area_are_filters(filed: Bench) -> None:
    assert names(filed, type="log") == {"run"}
    assert names(filed, type="\udfff") == set()
    assert names(filed, para="project") == {"plan", "Roofing"}
    assert names(filed, para="archive") == {"old"}
    assert names(filed, area="health") == {"run"}


def test_days_are_inclusive_and_a_note_without_a_date_has_that_of_its_last_change(filed: Bench) -> None:
    assert names(filed, since="2026-05-01", until="2026-05-01") == {"plan"}
    assert names(filed, since="2026-01-01", until="2026-01-01") == {"Roofing"}
    assert names(filed, until="2020-02-29") == {"old"}
    assert names(filed, since="2026-05-02") == {"run", "under_score"}


def test_every_filter_must_hold(filed: Bench) -> None:
    assert names(filed, folder="Projects", tags=("home/roof",), type="plan", para="project") == {"plan"}
    assert names(filed, folder="Projects", type="log") == set()


@pytest.mark.parametrize(
    "filters", [Filters(since="yesterday"), Filters(until="2026-02-30"), Filters(para="x")]
)
def test_a_filter_that_makes_no_sense_is_a_usage_error(filed: Bench, filters: Filters) -> None:
    with pytest.raises(UsageError):
        filed.search(SearchQuery("zebra", filters=filters))


def test_filters_hold_for_every_way_of_looking(bench: Bench) -> None:
    bench.vault.write("in/a.md", "# Zebra\n\nstripes in the grass\n")
    bench.vault.write("out/zebra.md", "# Zebra\n\nstripes in the grass, many zebras\n")
    bench.sync()
    for mode in ("hybrid", "keyword", "semantic"):
        query = SearchQuery("zebra", filters=Filters(folder="in"), mode=mode)
        assert bench.paths(query) == ["in/a.md"], mode
