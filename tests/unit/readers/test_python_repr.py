"""Dictionaries as Python prints them, read without evaluating anything."""

import math

import pytest

from holter.readers.python_repr import parse


def test_reads_what_trainers_print():
    said = parse(
        """{'loss': nan, 'kl': np.float64(0.1), 'lr': '1e-06', "it's": tensor(0.5, device='cuda:0'), 'x': -inf, 'n': None}"""
    )
    assert math.isnan(said.pop("loss"))
    assert said == {"kl": 0.1, "lr": "1e-06", "it's": 0.5, "x": -math.inf, "n": None}


def test_reads_nested_dictionaries_and_leaves_lists_empty():
    assert parse("{'a': {'b': 1, 'c': (1, [2, {'x': 3}])}, 'd': [], 'e': array([1, 2]),}") == {
        "a": {"b": 1.0, "c": []},
        "d": [],
        "e": [],
    }


def test_undoes_escapes():
    assert parse(r"{'a\n\x41\u6b65\\': 1}") == {"a\nA步\\": 1.0}


@pytest.mark.parametrize("text", ["{'a': 1, ...}", "{..., 'a': 1}", "{'a': 1, ..., }"])
def test_items_that_a_person_left_out_are_left_out(text):
    assert parse(text) == {"a": 1.0}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "does not begin"),
        ("{... 'a': 1}", "no comma"),
        ("[1]", "does not begin"),
        ("{", "a name was expected"),
        ("{'a'}", "no colon"),
        ("{'a': }", "a value was expected"),
        ("{'a': 1", "no comma"),
        ("{'a': 1 'b': 2}", "no comma"),
        ("{'a': 1}}", "goes on"),
        ("{'a': (1]}", "expected before"),
        ("{'a': [1, ", "ends in the middle"),
        ("{'a': 'b", "cannot read"),
        ("{'a': " * 40 + "1" + "}" * 40, "nested more than 16 deep"),
        ("{'a': " + "[" * 100_000, "ends in the middle"),
        ("{'a': '" + "x" * (5 << 20) + "'}", "longer than 4 MiB"),
    ],
)
def test_says_what_is_wrong(text, why):
    with pytest.raises(ValueError, match=why):
        parse(text)


def test_runs_nothing():
    with pytest.raises(ValueError, match="no comma"):
        parse("{'a': __import__('os').system('false')}")
