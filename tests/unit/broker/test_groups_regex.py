"""Topic patterns: RE2's syntax, no backtracking, little memory, and Python's view as well."""

from __future__ import annotations

import random
import re
import string
from contextlib import suppress

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.broker.groups.consumer.topic_regex import check_regex, matching_topics
from headwater.protocol.errors import ErrorCode, KafkaError


def matches(regex: str, name: str) -> bool:
    return matching_topics(regex, [name]) == {name}


@pytest.mark.parametrize(
    ("regex", "names", "others"),
    [
        ("orders", ["orders"], ["order", "orders2", "my-orders"]),
        ("orders.*", ["orders", "orders-2"], ["my-orders"]),
        (r"orders\.(eu|us)", ["orders.eu", "orders.us"], ["orders-eu", "orders.", "orders.eus"]),
        ("(^t.*)", ["t", "topic"], ["a-t"]),
        ("^a$|^b$", ["a", "b"], ["ab"]),
        ("a|", ["a"], ["b"]),
        ("[a-c]+", ["abc"], ["abcd"]),
        ("[^a-c]+", ["def", "1.2"], ["abc", "xa"]),
        ("[]a]+", ["a"], ["b"]),
        ("[a-]+", ["a-a"], ["b"]),
        (r"[\w.]+", ["a.b_c"], ["a-b"]),
        (r"v\d{2,3}", ["v12", "v123"], ["v1", "v1234"]),
        ("a{2}", ["aa"], ["a", "aaa"]),
        ("a{2,}", ["aa", "aaaa"], ["a"]),
        ("a{0}b", ["b"], ["ab"]),
        ("a{,2}", [], ["aa"]),
        ("(?i)orders", ["orders", "ORDERS", "OrDeRs"], ["order"]),
        ("(?i:a)b", ["ab", "Ab"], ["aB"]),
        ("(?i)a(?-i)b", ["Ab"], ["AB"]),
        (r"\Qa.b\E+", ["a.b", "a.bb"], ["axb", "a.ba.b"]),
        (r"\Qa.b", ["a.b"], ["axb"]),
        (r"\pL+", ["abC"], ["a1"]),
        (r"\p{Lu}\P{Lu}", ["Ab"], ["ab", "AB"]),
        (r"\p{Greek}|x", ["x"], ["a"]),
        ("[[:alpha:]]+[[:digit:]]", ["ab1"], ["ab", "1"]),
        ("[[:^alpha:]]", ["1"], ["a"]),
        (r"\x61\x{62}", ["ab"], ["a"]),
        (r"a\b.b", ["a-b", "a.b"], ["acb", "a_b"]),
        (r"a\Bb", ["ab"], ["a-b"]),
        (r"\Aa\z", ["a"], ["b"]),
        ("(?P<name>a)(?<other>b)", ["ab"], ["a"]),
        ("a+?b*?c??", ["a", "aabbc"], ["c"]),
        ("é", [], ["e"]),
    ],
)
def test_matches_whole_names(regex: str, names: list[str], others: list[str]) -> None:
    for name in names:
        assert matches(regex, name), name
    for name in others:
        assert not matches(regex, name), name


@pytest.mark.parametrize(
    "regex",
    [
        "(", ")", "a)", "[", "[a", "[z-a]", "*", "+a", "a**", "a|*", "(?=a)", "(?<!a)", r"\1",
        r"\8", "a{3,1}", "a{1001}", "\\", r"\xzz", r"\p{NoSuch}", "[[:nosuch:]]", "{2}",
        "(x{1000}){1000}", r"[\q]", "(?i",
    ],
)  # fmt: skip
def test_what_re2_refuses_is_refused(regex: str) -> None:
    with pytest.raises(KafkaError) as refused:
        check_regex(regex)
    assert refused.value.code is ErrorCode.INVALID_REGULAR_EXPRESSION


@pytest.mark.parametrize("regex", ["(a+)+x", "(a|a)*x", "(.*.*.*.*.*)*x", "(a?){30}a{30}x"])
def test_no_expression_takes_long(regex: str) -> None:
    # A backtracking matcher would be busy with this for longer than the test may take.
    assert not matches(regex, "a" * 249)


atoms = st.sampled_from(["a", "b", r"\.", ".", r"\d", r"\w", "[ab]", "[^a]", "[a-z0-9]", "-", "_"])
expressions = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{0,}"])).map(
            lambda part: f"(?:{part[0]}){part[1]}"
        ),
        st.lists(inner, min_size=2, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"({'|'.join(parts)})"),
    ),
    max_leaves=8,
)
names = st.text("aabb1._-", min_size=1, max_size=6)


@given(expressions, st.lists(names, min_size=1, max_size=10))
def test_agrees_with_python_where_it_does_not_take_long(regex: str, given: list[str]) -> None:
    expected = re.compile(regex, re.ASCII)
    assert matching_topics(regex, given) == {name for name in given if expected.fullmatch(name)}


characters = st.sampled_from(string.ascii_letters + string.digits + "._-()[]{}*+?|\\^$:<>=!,")


@given(st.text(characters, max_size=25))
def test_garbage_is_refused_and_nothing_worse(text: str) -> None:
    with suppress(KafkaError):
        matching_topics(text, ["some-topic.name_1"])


def test_no_expression_takes_much_memory() -> None:
    # An automaton that remembers each step of these names takes 150 MB.
    chars = random.Random(1)
    names = ["".join(chars.choices("abcxyz019._-", k=249)) for _ in range(20)]
    before = psutil.Process().memory_info().rss
    assert matching_topics("([a-m]?[^a]?.?){400}", names) == set(names)
    assert psutil.Process().memory_info().rss - before < 20 << 20


def test_finds_topics() -> None:
    topics = ["orders.eu", "orders.us", "payments", "__consumer_offsets"]
    assert matching_topics(r"orders\..*", topics) == {"orders.eu", "orders.us"}
    assert matching_topics(".*", topics) == set(topics)


def test_says_what_is_wrong() -> None:
    with pytest.raises(KafkaError, match=r"missing \]: \[a") as refused:
        check_regex("[a")
    assert refused.value.code is ErrorCode.INVALID_REGULAR_EXPRESSION
