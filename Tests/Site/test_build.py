"""The files of the site: the same in each build, with links that lead somewhere."""

import filecmp
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup
from conftest import PROJECT, SITE

PYTHON = PROJECT / "build" / "site-venv" / "bin" / "python"


def files(folder):
    return sorted(path.relative_to(folder) for path in Path(folder).rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def documents(site):
    """Maps each page to its parsed text."""
    return {page: BeautifulSoup(page.read_bytes(), "html.parser") for page in site.rglob("*.html")}


def test_a_second_build_gives_the_same_bytes(site, tmp_path):
    subprocess.run([PYTHON, PROJECT / "scripts" / "make-site", tmp_path / "again"], check=True, stdout=sys.stderr)
    assert files(site) == files(tmp_path / "again")
    _, different, unreadable = filecmp.cmpfiles(site, tmp_path / "again", files(site), shallow=False)
    assert not different + unreadable


def test_each_link_leads_to_a_file_and_an_anchor_of_the_site(documents):
    anchors = {page: {tag["id"] for tag in text.find_all(id=True)} | {""} for page, text in documents.items()}
    broken = []
    for page, text in documents.items():
        for tag in text.find_all(["a", "link", "script", "img"]):
            link = urlsplit(tag.get("href") or tag.get("src") or "")
            if link.scheme or link.netloc:
                continue
            target = (page.parent / unquote(link.path)).resolve() if link.path else page
            if not target.exists() or link.fragment and unquote(link.fragment) not in anchors.get(target, {""}):
                broken.append(f"{page.relative_to(SITE)}: {link.geturl()}")
    assert not broken


def test_only_links_that_a_reader_clicks_lead_to_other_sites(documents):
    """External links are checked by their form: https, and a name with a dot."""
    for page, text in documents.items():
        for tag in text.find_all(["link", "script", "img", "iframe"]):
            assert not urlsplit(tag.get("href") or tag.get("src") or "").netloc, f"{page}: {tag}"
        for tag in text.find_all("a", href=True):
            link = urlsplit(tag["href"])
            assert not link.netloc or link.scheme == "https" and "." in link.netloc, f"{page}: {tag['href']}"


def test_each_page_has_a_title_a_language_and_one_first_heading(documents):
    for page, text in documents.items():
        assert text.title and text.html.get("lang"), page
        assert page.name in ("genindex.html", "search.html") or len(text.find_all("h1")) == 1, page


def test_the_site_has_no_path_of_the_machine_that_built_it(site):
    for path in files(site):
        assert str(PROJECT).encode() not in (site / path).read_bytes(), path
