"""The pages of a report in Chromium: they say nothing, ask for nothing, and can be used by everybody."""

from __future__ import annotations

import http.server
import re
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from helpers.report import pages
from helpers.report.pages import write
from tests.browser.conftest import until
from tests.report_pages import ATTACKS, hostile_book, results, small_verdicts, write_results
from tests.test_report import PAGES
from tests.test_report_hostile import hostile_rows

#: All pages are looked at in the first two, which differ in size and in colours; some of each kind in the others too,
#: where time is no matter.
LOOKS = [("desktop", "light"), ("phone", "dark"), ("desktop", "dark"), ("phone", "light")]
LATER = [(), (), pytest.mark.slow, pytest.mark.slow]
SOME = ("index.html", "verdicts.html", "mt_bench_blind.html", "glossary.html")
LOOKED_AT = [
    pytest.param(name, *look, marks=() if at < 2 and name in SOME else pytest.mark.slow)
    for at, look in enumerate(LOOKS)
    for name in (PAGES if at < 2 else SOME)
]
every_look = pytest.mark.parametrize(
    ("size", "scheme"), [pytest.param(*look, marks=marks) for look, marks in zip(LOOKS, LATER, strict=True)]
)


@pytest.fixture(scope="session")
def few() -> list[tuple[Any, str]]:
    """Some verdicts of small runs."""
    return [(frame.head(60), words) for frame, words in small_verdicts()]


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory, few: list[tuple[Any, str]]) -> Path:
    """The report of the results in git, with some verdicts of small runs."""
    folder = tmp_path_factory.mktemp("report") / "out"
    write(folder, pages.files(results(), few))
    return folder


@pytest.fixture(scope="session")
def one_file(tmp_path_factory: pytest.TempPathFactory, few: list[tuple[Any, str]]) -> Path:
    """The same as one file."""
    folder = tmp_path_factory.mktemp("one") / "out"
    write(folder, pages.files(results(), few, one_file=True))
    return folder / "index.html"


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of results of which every text is an attack."""
    folder = tmp_path_factory.mktemp("hostile")
    found = results([write_results(folder / "mt_bench_blind-hostile", hostile_book())])
    write(folder / "out", pages.files(found, [hostile_rows()]))
    return folder / "out"


def address(folder: Path, name: str) -> str:
    return (folder / name).as_uri()


# --- every page -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "size", "scheme"), LOOKED_AT)
def test_a_page_is_quiet_fits_and_is_accessible(
    report: Path, visit: Any, axe: Any, name: str, size: str, scheme: str
) -> None:
    page, heard = visit(address(report, name), size, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    broken = "Array.from(document.images).filter((each) => !(each.complete && each.naturalWidth)).length"
    assert page.evaluate(broken) == 0
    assert page.locator("h1").is_visible()
    heard.nothing()
    assert axe(page) == []
    assert heard.requests == []


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_all_pages_can_be_reached_by_their_links(report: Path, visit: Any, size: str) -> None:
    page, heard = visit(address(report, "index.html"), size)
    seen = {"index.html"}
    for name in PAGES[1:]:
        if size == "phone":
            assert not page.locator(".menu a").first.is_visible()
            page.locator(".menu summary").click()
        page.locator(f".menu a[href='{name}']").click()
        page.wait_for_url(f"**/{name}")
        seen.add(name)
        assert page.locator(".menu [aria-current=page]").get_attribute("href") == name
    assert seen == set(PAGES)
    heard.nothing()


def test_the_keyboard_goes_past_the_links_and_is_always_seen(report: Path, visit: Any) -> None:
    page, heard = visit(address(report, "verdicts.html"))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    assert page.locator(".skip").bounding_box()["y"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    names = []
    for _ in range(20):
        page.keyboard.press("Tab")
        names.append(page.evaluate("document.activeElement.name || document.activeElement.tagName"))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        assert page.evaluate("parseFloat(getComputedStyle(document.activeElement).outlineWidth)") >= 2
    assert {"experiment", "judge", "marks", "condition", "search", "page"} <= set(names)
    heard.nothing()


GROUND = "getComputedStyle(document.body).backgroundColor"


def test_light_and_dark_follow_the_system(report: Path, visit: Any) -> None:
    grounds = []
    for scheme in ("light", "dark"):
        page, heard = visit(address(report, "index.html"), scheme=scheme)
        grounds.append(page.evaluate(GROUND))
        heard.nothing()
    light, dark = (max(map(int, re.findall(r"\d+", ground)[:3])) for ground in grounds)
    assert light > 200 > 60 > dark


# --- verdicts ---------------------------------------------------------------------------------------------------------


def rows(page: Any, shown: str = "!row.hidden") -> list[dict[str, str]]:
    """The rows on the page by the names of their columns, with the key."""
    return page.evaluate(f"""() => {{
        const table = document.querySelector("#verdicts table");
        const heads = Array.from(table.tHead.rows[0].cells, (cell) => cell.textContent);
        return Array.from(table.tBodies[0].rows).filter((row) => {shown}).map((row) => ({{
            ...Object.fromEntries(heads.map((head, at) => [head, row.cells[at].textContent])),
            id: row.querySelector("a").id, text: row.textContent,
        }}));
    }}""")


def test_verdicts_are_filtered_by_each_field_and_by_words_page_by_page(report: Path, visit: Any) -> None:
    page, heard = visit(address(report, "verdicts.html"))
    every, count, turned = rows(page, "true"), page.locator("output"), page.locator("[name=page]")
    assert len(every) > 150 and rows(page) == every[:50]
    turned.fill("2")
    assert rows(page) == every[50:100]
    assert count.text_content() == f"{len(every)} of {len(every)} rows, page 2 of {-(-len(every) // 50)}"
    for field in ("experiment", "judge", "condition"):
        value = every[-1][field]
        page.select_option(f"[name={field}]", value)
        found = [row for row in every if row[field] == value]
        assert rows(page) == found[:50] and turned.input_value() == "1"
        assert count.text_content().startswith(f"{len(found)} of {len(every)} rows")
        page.get_by_role("button", name="Show all").click()
        until(page, lambda: rows(page) == every[:50])
    page.select_option("[name=marks]", "flipped")
    flipped = [row for row in every if "flipped" in row["marks"].split(", ")]
    assert rows(page) == flipped[:50]
    page.select_option("[name=judge]", flipped[0]["judge"])
    both = [row for row in flipped if row["judge"] == flipped[0]["judge"]]
    assert rows(page) == both[:50]
    page.fill("[name=search]", "NO ROW HOLDS THIS")
    assert rows(page) == [] and count.text_content() == f"0 of {len(every)} rows, page 1 of 1"
    page.get_by_role("button", name="Show all").click()
    until(page, lambda: rows(page) == every[:50])
    word = both[0]["id"][:10].upper()
    page.fill("[name=search]", word)
    assert [row["id"] for row in rows(page)] == [row["id"] for row in every if word.lower() in row["text"].lower()]
    heard.nothing()


def test_a_number_leads_to_its_verdicts_and_a_key_to_its_row(report: Path, visit: Any) -> None:
    page, heard = visit(address(report, "judges.html"))
    page.locator("a[href^='verdicts.html?experiment=arena_hard_position_bias']").first.click()
    page.wait_for_url("**/verdicts.html?experiment=arena_hard_position_bias&judge=*")
    found = rows(page)
    assert found and len({(row["experiment"], row["judge"]) for row in found}) == 1
    other = next(row["id"] for row in reversed(rows(page, "true")) if row["judge"] != found[0]["judge"])
    page.goto(f"{page.url}#{other}")
    row = page.locator(f"tr:has([id='{other}'])")
    row.wait_for(state="visible")
    assert row.locator("pre").is_visible(), "its reply is open"
    until(page, f"(() => {{ const box = document.getElementById('{other}').getBoundingClientRect();"
                           " return box.top >= 0 && box.top < innerHeight; })()")  # fmt: skip
    heard.nothing()


def test_without_scripts_everything_is_there_but_the_filter(report: Path, visit: Any) -> None:
    page, heard = visit(address(report, "verdicts.html"), java_script_enabled=False)
    assert page.locator("#verdicts tbody tr").last.is_visible() and not page.locator("form").count()
    assert page.locator(".menu a").first.is_visible()
    heard.nothing()


@every_look
def test_one_file_shows_one_page_at_a_time(one_file: Path, visit: Any, size: str, scheme: str) -> None:
    page, heard = visit(one_file.as_uri(), size, scheme)
    seen = "Array.from(document.querySelectorAll('article')).filter((each) => each.offsetHeight).map((each) => each.id)"
    assert page.evaluate(seen) == ["index"]
    for name in ("judges", "glossary"):
        if size == "phone":
            page.locator(".menu summary").evaluate("(each) => { each.parentElement.open = true; }")
        page.locator(f".menu a[href='#{name}']").click()
        assert page.evaluate(seen) == [name]
        assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    page.goto(f"{one_file.as_uri()}#judges")
    page.locator("#judges a[href$='#verdicts']").first.click()
    page.wait_for_url("**/index.html?experiment=*#verdicts")
    assert page.evaluate(seen) == ["verdicts"] and len({row["judge"] for row in rows(page)}) == 1
    heard.nothing()


# --- on paper, on a server, and attacked ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["index.html", "mt_bench_blind.html", "verdicts.html"])
def test_a_page_can_be_printed(report: Path, visit: Any, name: str) -> None:
    page, heard = visit(address(report, name), scheme="dark")
    page.set_viewport_size({"width": 700, "height": 1000})  # A4 without its margins
    page.emulate_media(media="print", color_scheme="dark")
    assert not page.locator(".menu").is_visible() and not page.locator("form").is_visible()
    assert page.locator(".simulated").is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("document.documentElement.scrollWidth") <= 700, "nothing is cut off at the side"
    assert page.pdf(format="A4").startswith(b"%PDF-")
    heard.nothing()


@pytest.fixture
def served(report: Path) -> Iterator[str]:
    """The report on a server of this machine."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Nobody reads a log here."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(report))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_on_a_server_a_page_asks_for_nothing_but_itself(served: str, visit: Any) -> None:
    for name in ("index.html", "overview.html", "verdicts.html"):
        page, heard = visit(f"{served}/{name}")
        assert page.locator("h1").is_visible()
        assert heard.requests == [f"{served}/{name}"] and heard.errors == []


def test_attacks_are_only_words_in_a_browser(hostile: Path, visit: Any) -> None:
    for path in sorted(hostile.glob("*.html")):
        page, heard = visit(path.as_uri())
        page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        page.wait_for_timeout(300)  # what would act late
        heard.nothing()
        assert page.evaluate("typeof document.getElementById") == "function", "nothing took the place of a function"
        assert page.locator("h1").is_visible()
    page, heard = visit(address(hostile, "verdicts.html"))
    assert len(rows(page, "true")) == len(ATTACKS)
    page.select_option("[name=judge]", index=3)
    assert len(rows(page)) >= 1
    heard.nothing()


@every_look
def test_a_report_of_attacks_fits_and_is_accessible(
    hostile: Path, visit: Any, axe: Any, size: str, scheme: str
) -> None:
    page, _ = visit(address(hostile, "mt_bench_blind-hostile.html"), size, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    assert axe(page) == []
