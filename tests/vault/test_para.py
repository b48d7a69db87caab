"""PARA is told from folder names, in the spellings people use."""

import pytest

from hindbrain.vault.para import is_para_vault, para_of


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("Projects/Boat/plan.md", ("project", "Boat")),
        ("1-Projects/plan.md", ("project", "")),
        ("1. Projects/Boat/deep/plan.md", ("project", "Boat")),
        ("01 - Projects/Boat/plan.md", ("project", "Boat")),
        ("_archive/old/x.md", ("archive", "old")),
        ("4 Archives/x.md", ("archive", "")),
        ("vault/02_areas/Health/x.md", ("area", "Health")),
        ("📚 Resources\\Books\\x.md", ("resource", "Books")),
        ("Archive/Projects/Boat/x.md", ("archive", "Projects")),
        ("Projects.md", ("", "")),
        ("Project Ideas/x.md", ("", "")),
        ("Researches/x.md", ("", "")),
        ("", ("", "")),
    ],
)
def test_a_note_is_placed_by_its_outermost_para_folder(path, expected):
    assert para_of(path) == expected


def test_three_para_folders_side_by_side_make_a_para_vault():
    assert is_para_vault(["1 Projects/a.md", "2 Areas/b.md", "notes/c.md", "4 Archive/d.md"])
    assert is_para_vault(["v/Projects/a.md", "v/Areas/b.md", "v/Resources/c.md"])


def test_a_single_projects_folder_makes_none():
    assert not is_para_vault(
        ["Projects/a.md", "Projects/b.md", "notes/resources/c.md", "areas/x/archive/d.md"]
    )
    assert not is_para_vault([])
