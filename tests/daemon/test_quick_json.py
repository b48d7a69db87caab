"""JSON without the package: the same values and the same refusals."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.edge.daemon import quick_json

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(value=_VALUES, ascii_only=st.booleans(), indent=st.sampled_from([None, 0, 3]))
def test_values_are_those_of_the_package(value: object, ascii_only: bool, indent: int | None) -> None:
    text = quick_json.dumps(value, ascii_only=ascii_only)
    assert text == json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"))
    assert quick_json.loads(f" \r\n{json.dumps(value, indent=indent)}\t") == value
    assert quick_json.loads(bytearray(text.encode("utf-8", "surrogatepass"))) == value


@settings(max_examples=200, deadline=None)
@given(text=st.text(alphabet='{}[]",:0123456789.eE-+ntrueflasN\\u \n', max_size=14))
def test_what_is_no_json_is_refused_as_there(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(ValueError):
            quick_json.loads(text)
    else:
        assert repr(quick_json.loads(text)) == repr(expected)


@pytest.mark.parametrize("text", ["NaN", "[Infinity, -Infinity]"])
def test_numbers_that_are_none_are_read(text: str) -> None:
    assert repr(quick_json.loads(text)) == repr(json.loads(text))


def test_a_mark_at_the_beginning_is_passed_over() -> None:
    assert quick_json.loads(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}


def test_what_has_no_form_in_json_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        quick_json.dumps({"a": {1, 2}})


def test_a_ring_or_a_tower_is_refused() -> None:
    ring: list[object] = []
    ring.append(ring)
    with pytest.raises((ValueError, RecursionError)):
        quick_json.dumps(ring)
    with pytest.raises(RecursionError):
        quick_json.loads("[" * 200_000)


def _run(program: str) -> str:
    return subprocess.run(
        [sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True, encoding="utf-8"
    ).stdout


_BOTH = (
    "from hindbrain.edge.daemon.quick_json import dumps, loads\n"
    "assert loads(dumps({'a': [1, 'ä']})) == {'a': [1, 'ä']}\n"
    "try: loads('{')\n"
    "except ValueError: print('refused')\n"
)


def test_it_does_without_the_package_where_nothing_is_wrong() -> None:
    found = _run("import sys\n" + _BOTH.partition("try")[0] + "print('json' in sys.modules)\n")
    assert found.strip() == "False"


@pytest.mark.parametrize("other", ["sys.modules['_json'] = None", "import _json; del _json.make_scanner"])
def test_another_interpreter_uses_the_package(other: str) -> None:
    assert _run(f"import sys\n{other}\n{_BOTH}").strip() == "refused"


def test_nonsense_is_refused_without_the_package_being_there_before() -> None:
    assert _run(_BOTH).strip() == "refused"
