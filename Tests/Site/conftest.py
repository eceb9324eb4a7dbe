"""The built site, and Chromium, which has no network here."""

import os
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

PROJECT = Path(__file__).resolve().parents[2]
SITE = PROJECT / "build" / "site"


@pytest.fixture(scope="session")
def site():
    assert (SITE / "index.html").exists(), "make site builds the site"
    return SITE


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    options = webdriver.ChromeOptions()
    # A proxy that refuses each connection: a page that loads anything from elsewhere has an error in its log.
    for option in ("headless=new", "disable-gpu", "hide-scrollbars", "proxy-server=127.0.0.1:9",
                   f"user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(f"--{option}")
    if os.getuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium refuses to start its sandbox as root
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options, Service("/usr/bin/chromedriver"))
    yield driver
    driver.quit()
