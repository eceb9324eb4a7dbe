"""The environments of the tests and of the site agree."""

import re

from tree import PROJECT


def versions(name):
    """Maps each package with a fixed version to this version."""
    return dict(re.findall(r"^([\w.-]+)==(\S+)$", (PROJECT / name).read_text(encoding="utf-8"), re.MULTILINE))


def test_a_package_has_the_same_version_in_the_tests_and_in_the_build_of_the_site():
    site, tests = versions("docs/site/requirements.txt"), versions("Tests/requirements.txt")
    common = site.keys() & tests.keys()
    assert common
    assert {name: site[name] for name in common} == {name: tests[name] for name in common}


def test_each_package_for_the_site_has_a_fixed_version():
    text = (PROJECT / "docs/site/requirements.txt").read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if line and not re.match(r"#|[\w.-]+==\S+$", line)] == []
