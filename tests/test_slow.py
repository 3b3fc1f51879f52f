"""Every slow test says what it guards, where it can be read."""

import slow


def test_every_slow_test_says_what_it_guards():
    found = list(slow.slow_tests())
    assert ("workflow/test_reruns.py", "test_a_second_run_does_nothing") in [x[:2] for x in found]
    assert [x[:2] for x in found if not x[2]] == []


def test_the_table_of_slow_tests_is_current():
    text = (slow.TESTS / "README.md").read_text(encoding="utf-8")
    assert text.split(slow.BEGIN)[1].split(slow.END)[0].strip() == slow.table().strip(), (
        "run: python tests/slow.py"
    )
