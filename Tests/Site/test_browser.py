"""The site in Chromium, from its folder (file://), at the widths of a desk and of a phone."""

import pytest
from conftest import SITE, contrast, resize, set_scheme
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

PAGES = sorted(str(page.relative_to(SITE)) for page in SITE.rglob("*.html")) or ["index.html"]
#: Pages with long code, wide tables, tabs and diagrams.
DENSE = ["index.html", "ARCHITECTURE.html", "http.html", "command-line.html", "guides/downloads.html", "start/c.html"]
#: How long a page may take to show a result, in seconds.
PATIENCE = 60


@pytest.fixture(scope="module", params=["desk", "phone"])
def window(request, browser):
    """The browser with a window of the given width."""
    resize(browser, request.param)
    return browser


@pytest.fixture(scope="module")
def visits(window):
    """Opens all pages. Returns the width of each page and of the window, and the messages of the browser."""
    # The fetches of an earlier search end, and their messages are taken out of the log.
    window.get("about:blank")
    window.get_log("browser")
    widths = {}
    for page in PAGES:
        open_page(window, page)
        widths[page] = window.execute_script(
            "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    return widths, [entry["message"] for entry in window.get_log("browser")]


def open_page(browser, page):
    browser.get((SITE / page).as_uri())


def until(browser, condition):
    return WebDriverWait(browser, PATIENCE).until(condition)


def test_no_page_is_wider_than_the_window(visits):
    widths, _ = visits
    assert {page: found for page, found in widths.items() if found[0] > found[1]} == {}


def test_no_page_loads_anything_from_a_network_or_has_an_error_in_its_scripts(visits):
    _, messages = visits
    # Chromium asks for the icon by itself.
    assert [message for message in messages if "favicon" not in message] == []


def test_the_navigation_opens_on_a_phone_and_leads_to_another_page(browser):
    resize(browser, "phone")
    open_page(browser, "index.html")
    link = browser.find_element(By.CSS_SELECTOR, ".sidebar-tree a[href='start/python.html']")
    assert link.rect["x"] < 0, "the navigation is open before it was opened"
    browser.find_element(By.CSS_SELECTOR, ".mobile-header .nav-overlay-icon").click()
    until(browser, lambda _: link.rect["x"] >= 0)
    link.click()
    until(browser, lambda _: browser.current_url.endswith("/start/python.html"))


def test_the_search_finds_a_word_without_a_network(window):
    # The search also fetches the beginnings of the found pages, which file:// refuses: the results have no excerpts.
    open_page(window, "search.html")
    field = window.find_element(By.CSS_SELECTOR, "form[role=search] input[name=q], input[name=q]")
    window.execute_script("arguments[0].value = 'suspended'; arguments[0].form.submit()", field)
    # The results appear one after another.
    until(window, lambda _: window.find_elements(By.CSS_SELECTOR, "#search-results a[href*='guides/downloads.html']"))


def test_the_search_field_of_a_page_leads_to_results(browser):
    resize(browser, "desk")
    open_page(browser, "start/c.html")
    browser.find_element(By.CSS_SELECTOR, ".sidebar-search").send_keys("quiet hours", Keys.ENTER)
    assert until(browser, lambda _: browser.find_elements(By.CSS_SELECTOR, "#search-results li a"))


def test_the_chosen_language_stays_chosen_on_the_next_page(browser):
    open_page(browser, "guides/downloads.html")
    browser.find_element(By.XPATH, "//label[normalize-space()='Swift']").click()
    open_page(browser, "guides/uploads.html")
    swift = browser.find_element(By.XPATH, "//label[normalize-space()='Swift']/following-sibling::div[1]")
    until(browser, lambda _: swift.is_displayed())


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", DENSE)
def test_the_text_has_contrast_in_light_and_dark(browser, page, scheme):
    set_scheme(browser, scheme)
    open_page(browser, page)
    elements = browser.find_elements(By.CSS_SELECTOR, "article p, article h1, .diagram text, .diagram .nodeLabel")
    for element in elements[:20]:
        text, ground = browser.execute_script(
            "const of = (e, p) => getComputedStyle(e)[p];"
            "return [of(arguments[0], arguments[0].closest('svg') && !arguments[0].closest('foreignObject')"
            " ? 'fill' : 'color'), of(document.body, 'backgroundColor')]", element)
        assert contrast(text, ground) >= 4.5, f"{element.text!r}: {text} on {ground}"


def test_a_printed_page_has_all_languages_and_no_navigation(browser):
    open_page(browser, "guides/downloads.html")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        blocks = browser.find_elements(By.CSS_SELECTOR, ".sd-tab-content")
        assert blocks and all(block.is_displayed() for block in blocks)
        assert not browser.find_element(By.CSS_SELECTOR, ".sidebar-drawer").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
