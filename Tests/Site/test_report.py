"""The page of `backhaul report` in Chromium shows what the history and the attempts say."""

import itertools
import json
import re

import pytest
from command_line import CommandLine
from conftest import contrast, resize, set_scheme
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait
from servers.behaviour import Behaviour
from servers.content import Content
from servers.misbehaving import MisbehavingServer

PATIENCE = 60
HOSTILE = "</script><script>window.hurt = 1</script><img src=x onerror='window.hurt = 1'>"
#: How many tasks the large page has.
MANY = 50_000


class Run:
    """Transfers from two fast origins and a slow one. Three of them fail, and one continues after a break."""

    def __init__(self, folder, servers):
        self.command_line = CommandLine(folder, "embedded")
        self.fast, self.other, self.slow = servers
        urls = []
        for number in range(4):
            for server, pace in ((self.fast, None), (self.other, None), (self.slow, 40_000)):
                urls.append(server.serve(f"/file-{number}", Content(40_000 + number), otherwise=Behaviour(pace=pace)))
        urls += [self.other.serve(f"/gone-{number}", Content(1), otherwise=Behaviour(status=410, body=b"gone"))
                 for number in range(3)]
        urls.append(self.fast.serve("/cut", Content(300_000), [Behaviour(drop_after=200_000)]))
        self.command_line("get", "--retry-delay", "0.01", "-d", self.command_line.here, "-o", "{number}", *urls, code=1)
        self.command_line("add", "--suspended", "--group", HOSTILE, "-o", "<img src=x>", "http://127.0.0.1:9/x")
        self.page = self.command_line.here / "report.html"
        self.command_line("report", "-o", self.page)
        self.history = self.command_line.json("history")
        self.attempts = [attempt for task in self.history for attempt in self.command_line.json("attempts", task["id"])]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    with MisbehavingServer() as fast, MisbehavingServer() as other, MisbehavingServer() as slow:
        made = Run(tmp_path_factory.mktemp("report"), (fast, other, slow))
        yield made
        made.command_line.end()


def open_page(browser, page):
    browser.get(page.as_uri())
    until(browser, lambda _: browser.execute_script("return document.documentElement.dataset.ready"))


def until(browser, condition):
    return WebDriverWait(browser, PATIENCE).until(condition)


@pytest.fixture
def page(browser, run):
    resize(browser, "desk")
    set_scheme(browser, "light")
    browser.get("about:blank")
    browser.get_log("browser")
    open_page(browser, run.page)
    return browser


def texts(browser, selector):
    return [element.text for element in browser.find_elements(By.CSS_SELECTOR, selector)]


def shown_rows(browser):
    return [int(row.get_attribute("data-task")) for row in browser.find_elements(By.CSS_SELECTOR, "tr[data-task]")]


def choose(browser, field, words):
    """Chooses the option that begins with the words, by the keyboard: chromedriver's click sends no input event."""
    browser.find_element(By.ID, field).send_keys(words)


def size_text(count):
    """The size as the page shows it, for sizes in kB."""
    return f"{count / 1000:.0f} kB" if count >= 99_950 else f"{count / 1000:.1f} kB"


def test_the_summary_names_the_failures_and_the_slow_origin(page, run):
    findings = texts(page, ".finding strong")
    failed = [task for task in run.history if task["state"] == "failed"]
    assert len(failed) == 3
    assert findings[:2] == ["13 of 17 transfers succeeded.",
                            f"3 failed at {run.other.url}: {failed[0]['error_message']}"]
    # On a busy machine, another origin may be slow, too.
    slow = [origin.split()[0] for origin in texts(page, "#origins tbody tr") if "slow" in origin]
    assert run.slow.url in slow
    assert [words for words in findings if "Slow" in words] == [f"Slow origin: {origin}" for origin in slow]


def test_the_figures_are_the_sums_of_the_attempts(page, run):
    figures = dict(zip(texts(page, "#figures dt"), texts(page, "#figures dd"), strict=True))
    assert figures["received"] == size_text(sum(attempt["response_body_bytes"] for attempt in run.attempts))
    assert figures["retries"] == str(sum(task["attempts"] - 1 for task in run.history)) == "1"
    resumed = sum(attempt["offset"] for attempt in run.attempts)
    assert figures["resumed bytes"] == size_text(resumed) and resumed > 0


def test_the_medians_of_an_origin_are_those_of_its_attempts(page, run):
    [row] = [row for row in page.find_elements(By.CSS_SELECTOR, "#origins tbody tr") if run.slow.url in row.text]
    own = sorted(attempt["response_start_us"] - attempt["request_start_us"] for attempt in run.attempts
                 if attempt["url"].startswith(run.slow.url + "/"))
    middle = (own[1] + own[2]) / 2000
    shown = row.find_elements(By.TAG_NAME, "td")[4].text
    assert shown == ("< 1 ms" if middle < 1 else f"{round(middle)} ms")


def test_the_table_has_all_transfers_and_sorts_them(page, run):
    ids = [task["id"] for task in run.history] + [17]
    assert shown_rows(page) == sorted(ids)
    [head] = [head for head in page.find_elements(By.CSS_SELECTOR, "#table-head th") if head.text.startswith("Size")]
    sizes = {task["id"]: task["size"] or 0 for task in run.history} | {17: 0}
    head.find_element(By.TAG_NAME, "button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert [sizes[row] for row in shown_rows(page)][:13] == sorted(sizes.values(), reverse=True)[:13]
    head.find_element(By.TAG_NAME, "button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert [sizes[row] for row in shown_rows(page)][-13:] == sorted(sizes.values())[-13:]


def test_the_filters_select_transfers(page, run):
    choose(page, "filter-state", "failed")
    assert shown_rows(page) == [task["id"] for task in run.history if task["state"] == "failed"]
    page.find_element(By.CSS_SELECTOR, "#filters [type=reset]").click()
    until(page, lambda _: len(shown_rows(page)) == 17)
    choose(page, "filter-origin", run.slow.url)
    assert shown_rows(page) == [task["id"] for task in run.history if task["url"].startswith(run.slow.url + "/")]
    page.find_element(By.ID, "filter-text").send_keys("FILE-2")
    assert len(shown_rows(page)) == 1 and page.find_element(By.ID, "count").text == "1 of 17 transfers"


def test_a_button_of_a_finding_selects_its_transfers(page, run):
    page.find_element(By.CSS_SELECTOR, ".finding.bad button").click()
    until(page, lambda _: len(shown_rows(page)) == 3)
    assert shown_rows(page) == [task["id"] for task in run.history if task["state"] == "failed"]


def test_the_keyboard_reaches_the_details_of_a_transfer(page, run):
    page.find_element(By.TAG_NAME, "body").send_keys("/")
    assert page.switch_to.active_element.get_attribute("id") == "filter-text"
    page.switch_to.active_element.send_keys("cut")
    [cut] = shown_rows(page)
    page.find_element(By.ID, "table").send_keys(Keys.ARROW_DOWN, Keys.ENTER)
    dialog = page.find_element(By.ID, "details")
    assert dialog.is_displayed()
    numbers = [row.split()[0] for row in texts(page, "#details table tbody tr")]
    own = [attempt for attempt in run.attempts if attempt["task_id"] == cut]
    assert numbers[:2] == [str(attempt["number"]) for attempt in own] == ["1", "2"]
    assert f"continued at {size_text(own[1]['offset'])}" in dialog.text
    page.switch_to.active_element.send_keys(Keys.ESCAPE)
    until(page, lambda _: not dialog.is_displayed())


def test_the_waterfall_has_the_steps_of_the_slowest_attempt(page, run):
    slowest = max(run.attempts, key=lambda attempt: attempt["response_end_us"] or 0)
    row = page.find_elements(By.CSS_SELECTOR, "button.fall")[0]
    first = (slowest["response_start_us"] or 0) / slowest["response_end_us"]
    bytes_step = row.find_elements(By.CSS_SELECTOR, ".track i")[-1]
    track = row.find_element(By.CSS_SELECTOR, ".track")
    assert bytes_step.rect["width"] / track.rect["width"] == pytest.approx(1 - first, abs=0.02)


def test_hostile_texts_are_shown_and_do_nothing(page):
    page.find_element(By.ID, "filter-text").send_keys("127.0.0.1:9/x")
    page.find_element(By.ID, "table").send_keys(Keys.ENTER)
    assert HOSTILE in page.find_element(By.ID, "details").text
    assert page.execute_script("return window.hurt") is None
    assert page.find_elements(By.TAG_NAME, "img") == []
    assert page.get_log("browser") == []


@pytest.mark.parametrize("width", ["desk", "phone", "small"])
def test_the_page_is_not_wider_than_the_window(page, run, width):
    resize(page, width)
    open_page(page, run.page)
    found = page.execute_script("return [document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert found[0] <= found[1]
    assert page.get_log("browser") == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_texts_have_contrast(page, run, scheme):
    set_scheme(page, scheme)
    open_page(page, run.page)
    selector = "h1, .finding strong, .finding .more, .badge, #range, th, .note"
    for element in page.find_elements(By.CSS_SELECTOR, selector):
        if not element.is_displayed():
            continue
        text, ground = page.execute_script("""
            let ground = arguments[0];
            while (getComputedStyle(ground).backgroundColor === "rgba(0, 0, 0, 0)") ground = ground.parentElement;
            return [getComputedStyle(arguments[0]).color, getComputedStyle(ground).backgroundColor];""", element)
        assert contrast(text, ground) >= 4.5, f"{element.text!r}: {text} on {ground}"


def test_an_empty_history_says_so(browser, tmp_path):
    command_line = CommandLine(tmp_path, "embedded")
    command_line("configure", "--retry", "3")
    command_line("report", "-o", "report.html")
    open_page(browser, command_line.here / "report.html")
    assert texts(browser, ".finding")[0].splitlines()[-2:] == [
        "There are no transfers.", "The session has no tasks, and its history is empty."]


def values(column):
    """The values of a column, which may be stored as runs of equal values or of equal differences."""
    if isinstance(column, list):
        return column
    [(kind, runs)] = column.items()
    found = [value for value, count in zip(runs[::2], runs[1::2], strict=True) for _ in range(count)]
    return found if kind == "runs" else list(itertools.accumulate(found))


def repeated(data, times):
    """The data with its tasks, attempts and waits repeated."""
    tables = {}
    for name in ("tasks", "attempts", "waits"):
        tables[name] = {}
        for key, column in data[name].items():
            tables[name][key] = values(column) * times
    tables["tasks"]["id"] = list(range(1, len(tables["tasks"]["id"]) + 1))
    return data | tables


def test_many_transfers_make_few_elements(browser, run, tmp_path):
    [data] = run.command_line.json("report")
    many = repeated(data, MANY // 17 + 1)
    text = re.sub(r'(<script type="application/json" id="data">).*?(</script>)',
                  lambda found: found[1] + json.dumps(many).replace("<", "\\u003c") + found[2],
                  run.page.read_text(), count=1, flags=re.S)
    page = tmp_path / "many.html"
    page.write_text(text)
    resize(browser, "desk")
    open_page(browser, page)
    assert len(many["tasks"]["id"]) >= MANY
    assert len(browser.find_elements(By.CSS_SELECTOR, "*")) < 5000
    table = browser.find_element(By.ID, "table")
    table.send_keys(Keys.END)
    until(browser, lambda _: many["tasks"]["id"][-1] in shown_rows(browser))
    browser.find_element(By.ID, "filter-text").send_keys("gone-1")
    until(browser, lambda _: browser.find_element(By.ID, "count").text.startswith(f"{MANY // 17 + 1:,} of "))
