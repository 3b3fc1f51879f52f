"""The report as a browser shows it, on a desk and on a telephone."""

import pytest
from figures.chromium import REMEDY, Chromium, find_chromium
from figures.pages import write_page


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    path = find_chromium()
    if path is None:
        pytest.skip(REMEDY)
    with Chromium(path, tmp_path_factory.mktemp("browser")) as chromium:
        yield chromium


@pytest.fixture(scope="module")
def page(held_out, tmp_path_factory):
    asked = {"reach": "link_1 + link_2 [cm]"}
    settings = {"a_long_name_of_a_setting_" * 3: "value_without_a_break_" * 6}
    folder = tmp_path_factory.mktemp("page")
    return write_page(held_out, folder, combinations=asked, notes=(f"{settings}",))


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_fails_and_nothing_is_wider_than_the_window(browser, page, width):
    browser.show(page, width)
    assert browser.value("innerWidth") == width
    assert browser.value("document.documentElement.scrollWidth") <= width
    images = browser.value("[...document.images].map((i) => [i.complete, i.naturalWidth])")
    assert images == [[True, 1600]] * 4
    assert browser.value("document.querySelectorAll('nav a').length") >= 8
    assert browser.errors == []


def numbers(texts):
    """Of those that are there, and that the others come last."""
    there = [text for text in texts if text.strip()]
    assert texts[: len(there)] == there
    return [float(text.split()[0].replace(",", "")) for text in there]


def test_a_click_on_a_heading_sorts(browser, page):
    browser.show(page, 1280)
    starts = "document.querySelector('#starts ~ table')"
    column = f"[...{starts}.rows].slice(1).map((row) => row.cells[2].textContent)"
    first = browser.value(column)
    assert len(first) > 2
    for reverse in (False, True):
        browser.value(f"{starts}.rows[0].cells[2].click()")
        assert numbers(browser.value(column)) == sorted(numbers(first), reverse=reverse)
    names = f"[...{starts}.rows].slice(1).map((row) => row.cells[0].textContent)"
    browser.value(f"{starts}.rows[0].cells[0].click()")
    assert browser.value(names) == sorted(browser.value(names), key=str.lower)
    assert browser.errors == []


def test_of_a_table_that_lies_across_the_heading_of_a_row_sorts_the_runs(browser, page):
    browser.show(page, 1280)
    table = "document.querySelector('table.across')"
    rows = browser.value(
        f"[...{table}.rows].map((row) => [...row.cells].map((c) => c.textContent))"
    )
    place = next(i for i, row in enumerate(rows) if row[0].startswith("RMSE training"))
    browser.value(f"{table}.rows[{place}].cells[0].click()")
    browser.value(f"{table}.rows[{place}].cells[0].click()")
    after = browser.value(
        f"[...{table}.rows].map((row) => [...row.cells].map((c) => c.textContent))"
    )
    assert numbers(after[place][1:]) == sorted(
        numbers(sorted(rows[place][1:], key=lambda text: not text.strip())), reverse=True
    )
    # Every run takes all of its column along.
    assert {tuple(one) for one in zip(*after, strict=True)} == {
        tuple(one) for one in zip(*rows, strict=True)
    }
    assert browser.errors == []
