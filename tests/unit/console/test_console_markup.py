"""Everything that is shown is escaped, and links stay in the console."""

from __future__ import annotations

import pytest

from headwater.console.view.markup import join, link, table, tag

HOSTILE = "<script>alert('x')</script>"


def test_text_and_attributes_are_escaped() -> None:
    assert "<script" not in tag("p", HOSTILE, title=f'"{HOSTILE}')
    assert "<script" not in table([HOSTILE], [[HOSTILE]])
    assert "<script" not in join([HOSTILE, tag("b", HOSTILE)])
    assert "<script" not in link(HOSTILE, f"/topics/{HOSTILE}")


def test_elements_are_not_escaped_twice() -> None:
    assert tag("p", tag("b", "a & b"), None, 3) == "<p><b>a &amp; b</b>3</p>"


@pytest.mark.parametrize("href", ["javascript:alert(1)", "//evil.example", "http://evil.example"])
def test_links_stay_in_the_console(href: str) -> None:
    with pytest.raises(ValueError, match="leads out of the console"):
        link("x", href)
