"""The cheap look never stops a query that the date grammar would have understood."""

import json
import os
import re
from datetime import date
from pathlib import Path

import pytest

from hindbrain.search.date_cues import may_name_a_date
from hindbrain.search.dates import find_windows

_TODAY = date(2024, 5, 15)
_DATA = Path(os.environ.get("HINDBRAIN_DATA", Path(__file__).parents[3] / "shared" / "data"))


def test_every_phrase_that_the_date_tests_know_passes() -> None:
    tests = (Path(__file__).parent / "test_dates.py").read_text(encoding="utf-8")
    phrases = [text for text in re.findall(r'"([^"\n]+)"', tests) if find_windows(text, today=_TODAY)]
    assert len(phrases) > 50
    assert [text for text in phrases if not may_name_a_date(text)] == []


def test_every_question_with_a_date_passes() -> None:
    source = _DATA / "locomo_dev.json"
    if not source.exists():
        pytest.skip(f"{source} is not there; set HINDBRAIN_DATA to the folder that has it")
    questions = [qa["question"] for talk in json.loads(source.read_text("utf-8")) for qa in talk["qa"]]
    dated = [text for text in questions if find_windows(text, today=_TODAY)]
    assert dated
    assert [text for text in dated if not may_name_a_date(text)] == []


def test_a_query_without_any_sign_of_time_is_spared() -> None:
    assert not may_name_a_date("how do I clip a picture to a circle")
