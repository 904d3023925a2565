"""Names of subjects and contexts."""

from __future__ import annotations

import pytest

from headwater.registry.subjects import (
    QualifiedSubject,
    beside,
    context_of,
    context_prefix,
    is_context,
    is_in,
    is_valid,
    normalize,
    normalize_context,
)


@pytest.mark.parametrize(
    ("name", "context", "subject", "normal"),
    [
        ("orders", ".", "orders", "orders"),
        ("", ".", "", ""),
        (":.:orders", ".", "orders", "orders"),
        (":.staging:orders", ".staging", "orders", ":.staging:orders"),
        (":.staging:", ".staging", "", ":.staging:"),
        (":.staging", ".staging", "", ":.staging:"),
        (":.a:b:c", ".a", "b:c", ":.a:b:c"),
        (":*:orders", "*", "orders", ":*:orders"),
        (":orders", ".", ":orders", ":orders"),
        ("a:.b:c", ".", "a:.b:c", "a:.b:c"),
    ],
)
def test_names_are_taken_apart(name: str, context: str, subject: str, normal: str) -> None:
    assert QualifiedSubject.parse(name) == (context, subject)
    assert normalize(name) == normal


def test_what_is_named_beside_something_is_in_its_context() -> None:
    assert beside("item", "orders") == "item"
    assert beside("item", ":.staging:orders") == ":.staging:item"
    assert beside(":.other:item", ":.staging:orders") == ":.other:item"


def test_a_context_means_all_that_is_in_it() -> None:
    assert is_in("orders", None)
    assert is_in("orders", "orders")
    assert not is_in("orders", "order")
    assert is_in(":.staging:orders", ":.staging:")
    assert not is_in("orders", ":.staging:")
    assert is_in(":.staging:orders", ":.__GLOBAL:")
    assert is_context(":.staging:")
    assert is_context(None)
    assert not is_context("orders")
    assert context_of(":.staging:orders") == ".staging"
    assert context_prefix("orders") == ""


@pytest.mark.parametrize("name", ["staging", ".staging", ":.staging:", ":.staging", ".staging:"])
def test_contexts_have_one_spelling(name: str) -> None:
    assert normalize_context(name) == ":.staging:"


def test_the_default_context_has_no_prefix() -> None:
    assert normalize_context(".") == ""
    with pytest.raises(ValueError, match="colon"):
        normalize_context("a:b")


@pytest.mark.parametrize(
    ("name", "valid", "valid_for_settings"),
    [
        ("orders", True, True),
        ("", True, True),
        ("a/b c%ü", True, True),
        ("a\nb", False, False),
        ("a\x7f", False, False),
        ("__GLOBAL", False, False),
        (":.x:__EMPTY", False, False),
        (":.__GLOBAL:", False, True),
    ],
)
def test_which_names_can_be_used(name: str, valid: bool, valid_for_settings: bool) -> None:
    assert is_valid(name) == valid
    assert is_valid(name, for_settings=True) == valid_for_settings
