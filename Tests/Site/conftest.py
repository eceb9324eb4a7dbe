"""The built site, and Chromium, which has no network here."""

import os
import sys
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

PROJECT = Path(__file__).resolve().parents[2]
SITE = PROJECT / "build" / "site"
#: The tests of the report use the command line and the servers of the other tests.
sys.path += [str(PROJECT / "Tests" / "CLI"), str(PROJECT / "Tests" / "Support")]
WIDTHS = {"desk": (1280, 900), "phone": (390, 844), "small": (360, 740)}


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


def resize(browser, name):
    """Gives the window the size of a desk, a phone or a small phone."""
    width, height = WIDTHS[name]
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": width, "height": height, "deviceScaleFactor": 1, "mobile": name != "desk"})


def set_scheme(browser, scheme):
    """Chooses the light or the dark form of pages. Nothing moves slowly, so that clicks meet their elements."""
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
        {"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}]})


def contrast(first, second):
    """The contrast of two colours, from 1 to 21, as the WCAG define it."""
    bright, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def luminance(colour):
    parts = [float(part) / 255 for part in colour[colour.index("(") + 1:-1].split(",")[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
