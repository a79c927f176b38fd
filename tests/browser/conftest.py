"""Chromium for tests: one browser a module, pages that tell what they said, asked for and did."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

#: Names under which Chromium is installed; without any of them the one that playwright installs is tried.
NAMES = ("chromium", "chromium-browser", "google-chrome")
#: Milliseconds: on a machine that is busy with other work a page may take its time.
PATIENCE = 180_000
SIZES = {"desktop": {"width": 1440, "height": 900}, "phone": {"width": 390, "height": 844}}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)


def absent(why: str) -> None:
    """Skip, or fail where BROWSER_TESTS says that these tests are required."""
    told = f"{why}: `make browser` installs what these tests need"
    if os.environ.get("BROWSER_TESTS") == "required":
        pytest.fail(told)
    pytest.skip(told)


@dataclass
class Heard:
    """What a page said and did while it was looked at; errors of the console and of scripts, dialogs, requests out."""

    errors: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def nothing(self) -> None:
        """Nothing went wrong and nothing was asked for elsewhere."""
        assert (self.errors, self.dialogs, self.requests) == ([], [], [])


def listen(
    page: Any, inside: tuple[str, ...] = ("file:", "data:", "about:"), grave: tuple[str, ...] = ("error", "warning")
) -> Heard:
    """Take down what a page says and does; requests to addresses that begin as `inside` says are its own."""
    heard = Heard()

    def said(told: Any) -> None:
        if told.type in grave:
            heard.errors.append(f"{told.text} ({told.location['url']})")

    page.on("console", said)
    page.on("pageerror", lambda error: heard.errors.append(str(error)))
    page.on("request", lambda asked: None if asked.url.startswith(inside) else heard.requests.append(asked.url))

    def closed(dialog: Any) -> None:
        heard.dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", closed)
    return heard


def until(page: Any, condition: str | Callable[[], bool]) -> None:
    """Wait until an expression is true on a page, or a function of this test is.

    What playwright has for expressions is refused by the report's own policy.
    """
    end = time.monotonic() + PATIENCE / 1000
    while not (condition() if callable(condition) else page.evaluate(condition)):
        assert time.monotonic() < end, f"never true: {condition}"
        page.wait_for_timeout(30)


# One browser a module, and not one a session: while playwright runs, no other test of the process may start a loop.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A headless Chromium."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        absent("playwright is not installed")
    found = next(filter(None, map(shutil.which, NAMES)), None)
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_playwright() as playwright:
        try:
            # Chromium refuses its sandbox to root, who runs tests in containers.
            browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"] if root else [])
        except Error as error:
            absent(f"no Chromium starts here ({str(error).splitlines()[0]})")
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium: Any) -> Iterator[Callable[..., tuple[Any, Heard]]]:
    """A function that opens an address: (page, what is heard of it), in a window of a size and a scheme of colours."""
    contexts = []

    def opened(address: str, size: str = "desktop", scheme: str = "light", **options: Any) -> tuple[Any, Heard]:
        context = chromium.new_context(viewport=SIZES[size], color_scheme=scheme, **options)
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        heard = listen(page)
        page.goto(address)
        return page, heard

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture
def axe() -> Callable[[Any], list[str]]:
    """A function that names what axe-core finds serious or critical on a page."""
    try:
        from axe_playwright_python.base import AXE_SCRIPT
    except ImportError:
        absent("axe-playwright-python is not installed")

    def serious(page: Any) -> list[str]:
        page.evaluate(AXE_SCRIPT)
        found = page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
        grave = [each for each in found if each["impact"] in ("serious", "critical")]
        return [f"{each['id']} ({each['impact']}): {each['nodes'][0]['html'][:200]}" for each in grave]

    return serious
