"""The site in a real browser: every page opens without outside requests; search, filters, keys, phone, dark and print work."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, sync_playwright

from derivations.records.documents import DOCUMENTS
from derivations.register.catalogue import entries
from derivations.report import site
from derivations.report.merging import load
from tests.derivations.report import samples

CHROMIUM = shutil.which("chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--in-process-gpu",
]

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")


@dataclass
class Watched:
    """A page with its console messages and its requests."""

    page: Page
    root: str
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self.note)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", self.ask)
        self.page.on("requestfailed", lambda request: self.errors.append(f"failed: {request.url}"))

    def note(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def ask(self, request: Request) -> None:
        self.requests.append(request.url)

    @property
    def strangers(self) -> list[str]:
        """Requests for anything outside the report."""
        return [url for url in self.requests if not url.startswith((self.root, "data:"))]

    def open(self, name: str) -> Page:
        self.page.goto(self.root + name, wait_until="domcontentloaded")
        return self.page


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


def published(folder: Path, ledger: dict[str, Any]) -> str:
    site.write(load([samples.saved(folder, ledger)]), folder / "report")
    return f"{(folder / 'report').as_uri()}/"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> str:
    return published(tmp_path_factory.mktemp("small"), samples.every_verdict())


@pytest.fixture(scope="module")
def large(complete_report: Path) -> str:
    return f"{complete_report.as_uri()}/"


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1200, "height": 900}, color_scheme="light")
    yield context
    context.close()


@pytest.fixture
def front(context: BrowserContext, small: str) -> Iterator[Page]:
    watched = Watched(context.new_page(), small)
    yield watched.open("index.html")
    assert watched.errors == []
    assert watched.strangers == []


def shown(page: Page) -> list[str]:
    """The ids in the list that are visible."""
    return page.eval_on_selector_all(".claims li:not([hidden])", "rows => rows.map(row => row.dataset.id)")


# ── every page ──────────────────────────────────────────────────────────────────────────────────────────────────────


SIDE_BY_SIDE = 20  # pages at a time

FRAMED = """addresses => Promise.all(addresses.map(address => new Promise(done => {
    const frame = Object.assign(document.createElement('iframe'), {src: address, width: 400, height: 100, onload: done});
    document.body.append(frame);
})))"""
READ = """[document.querySelector('h1').textContent, document.styleSheets.length,
          document.querySelector('.formula math, .formula .tex') !== null]"""


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_claim_page_opens(context: BrowserContext, large: str, document: str, tmp_path: Path) -> None:
    """In frames of one page: navigating a window to each takes three times as long."""
    titles = {f"{large}claims/{id}.html": entry.title for id, entry in entries().items() if id.startswith(f"{document}.")}
    addresses, ours = list(titles), tmp_path / "frames.html"
    ours.write_text("<!doctype html><body>")
    watched = Watched(context.new_page(), large)
    for start in range(0, len(addresses), SIDE_BY_SIDE):
        watched.page.goto(ours.as_uri())
        watched.page.evaluate(FRAMED, addresses[start : start + SIDE_BY_SIDE])
        read = {frame.url: frame.evaluate(READ) for frame in watched.page.main_frame.child_frames}
        assert read == {address: [titles[address], 2, True] for address in addresses[start : start + SIDE_BY_SIDE]}
    assert watched.errors == []
    assert set(watched.strangers) == {ours.as_uri()}
    assert titles.keys() <= set(watched.requests)


def test_front_page_and_errata_of_the_complete_report_open(context: BrowserContext, large: str) -> None:
    watched = Watched(context.new_page(), large)
    page = watched.open("index.html")
    assert page.locator(".cell").count() == len(entries())
    for link in page.eval_on_selector_all("nav.top a:not(.home)", "links => links.map(link => link.getAttribute('href'))"):
        assert (watched.open(link).locator(".erratum").count() > 0) != ("beyond" in link)  # which prints nothing
    assert watched.errors == []
    assert watched.strangers == []


@pytest.mark.parametrize("framed", [False, True])
def test_the_watch_sees_errors_and_strangers(context: BrowserContext, small: str, tmp_path: Path, framed: bool) -> None:
    outside, frames = tmp_path / "outside.html", tmp_path / "frames.html"
    outside.write_text("<script>console.error('oh'); throw new Error('no')</script><img src='missing.png'>")
    frames.write_text("<!doctype html><body>")
    watched = Watched(context.new_page(), small)
    watched.page.goto((frames if framed else outside).as_uri())
    if framed:
        watched.page.evaluate(FRAMED, [outside.as_uri()])
    assert "oh" in watched.errors
    assert "no" in watched.errors
    assert any(error.startswith("failed: ") for error in watched.errors)
    assert outside.as_uri() in watched.strangers


def test_the_policy_lets_nothing_out(context: BrowserContext, small: str) -> None:
    page = context.new_page()
    page.goto(f"{small}index.html")
    blocked = page.evaluate("""() => new Promise(done => {
        const seen = [];
        document.addEventListener('securitypolicyviolation', event => {
            seen.push(event.effectiveDirective);
            if (seen.length === 3) done(seen.sort());
        });
        fetch('https://example.invalid/').catch(() => 0);
        document.head.append(Object.assign(document.createElement('script'), {src: 'https://example.invalid/a.js'}));
        document.body.append(Object.assign(new Image(), {src: 'https://example.invalid/a.png'}));
    })""")
    assert blocked == ["connect-src", "img-src", "script-src-elem"]


# ── search and filters ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("choice", "value", "expected"),
    [
        ("document", "geometric", ["geometric.7"]),
        ("verdict", "proved", ["eot.1"]),
        ("kind", "optimality", ["eot.thm6.3"]),
        ("severity", "wording", ["eot.s7.fisher-scaled"]),
    ],
)
def test_each_filter_shows_the_matching_rows(front: Page, choice: str, value: str, expected: list[str]) -> None:
    everything = shown(front)
    assert len(everything) == 11
    front.select_option(f"#{choice}", value)
    assert shown(front) == expected
    assert front.eval_on_selector_all(".cell:not(.dim)", "cells => cells.map(cell => cell.dataset.id)") == expected
    assert front.locator(".count").inner_text() == "1 of 11 ↓"
    assert front.url.endswith(f"#{choice}={value}")
    front.click("text=Clear")
    assert shown(front) == everything


def test_search_finds_every_word_anywhere(front: Page) -> None:
    front.fill("#q", "theorem 6.3")
    assert shown(front) == ["eot.thm6.3"]
    front.fill("#q", "TITLE of  geometric")
    assert shown(front) == ["geometric.7"]
    front.fill("#q", "no such words")
    assert shown(front) == []
    front.click("text=Show all")
    assert len(shown(front)) == 11
    front.fill("#q", "words of")
    front.select_option("#verdict", "corrected")
    assert shown(front) == ["eot.3", "eot.s7.fisher-scaled"]


def test_the_address_keeps_the_view(front: Page, context: BrowserContext) -> None:
    front.fill("#q", "τ > 0")
    front.select_option("#verdict", "corrected")
    again = context.new_page()
    again.goto(front.url)
    assert again.input_value("#q") == "τ > 0"
    assert shown(again) == shown(front) == ["eot.3", "eot.s7.fisher-scaled"]
    again.goto(f"{front.url.split('#')[0]}#verdict=nonsense")
    assert len(shown(again)) == 11
    again.goto(f"{front.url.split('#')[0]}#runs")
    assert len(shown(again)) == 11


def test_the_legend_filters(front: Page) -> None:
    front.click(".legend > ul a:has-text('refuted')")
    assert shown(front) == ["eot.thm6.3"]
    assert front.locator(".legend [aria-current]").inner_text().split() == ["✗", "refuted", "1"]


# ── the keyboard ────────────────────────────────────────────────────────────────────────────────────────────────────


def active(page: Page) -> dict[str, str]:
    return page.evaluate("({id: document.activeElement.id, cell: document.activeElement.dataset.id || ''})")


def test_slash_focuses_the_search_and_can_be_typed_there(front: Page) -> None:
    front.keyboard.press("/")
    assert active(front)["id"] == "q"
    front.keyboard.type("1/2")
    assert front.input_value("#q") == "1/2"


def test_tab_reaches_the_filters_and_the_cells(front: Page) -> None:
    reached = []
    for _ in range(60):
        front.keyboard.press("Tab")
        reached.append(active(front))
    fields = ("q", "document", "verdict", "kind", "severity")
    assert tuple(dict.fromkeys(stop["id"] for stop in reached if stop["id"] in fields)) == fields
    assert list(dict.fromkeys(stop["cell"] for stop in reached if stop["cell"])) == ["eot.1", "geometric.7"]


def test_arrows_walk_the_strip_and_enter_opens(front: Page) -> None:
    front.focus("[data-id='eot.1'].cell")
    for key, expected in [
        ("ArrowRight", "eot.2"),
        ("End", "eot.thm6.3"),
        ("ArrowRight", "eot.thm6.3"),
        ("ArrowLeft", "eot.s7.fisher-scaled"),
        ("Home", "eot.1"),
        ("ArrowLeft", "eot.1"),
        ("ArrowRight", "eot.2"),
    ]:
        front.keyboard.press(key)
        assert active(front)["cell"] == expected
    front.keyboard.press("Enter")
    front.wait_for_url("**/claims/eot.2.html")


def test_enter_in_the_search_focuses_the_list(front: Page) -> None:
    front.fill("#q", "fisher-scaled")
    front.press("#q", "Enter")
    assert active(front)["id"] == "claims"
    front.keyboard.press("Tab")
    assert front.evaluate("document.activeElement.getAttribute('href')") == "claims/eot.s7.fisher-scaled.html"


# ── phone, dark, paper ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["index.html", "errata-eot.html", "claims/eot.3.html", "claims/eot.2.html"])
def test_a_phone_never_scrolls_sideways(context: BrowserContext, small: str, name: str) -> None:
    page = context.new_page()
    page.set_viewport_size({"width": 375, "height": 812})
    page.goto(small + name)
    assert page.evaluate("document.documentElement.scrollWidth") <= 375


def test_long_formulas_scroll_in_their_own_box(context: BrowserContext, tmp_path: Path) -> None:
    long = samples.row("eot.1", statement={"latex": "+".join(["x"] * 200), "text": "w" * 300}, scope="v" * 300)
    page = context.new_page()
    page.set_viewport_size({"width": 375, "height": 812})
    page.goto(published(tmp_path, samples.of(long)) + "claims/eot.1.html")
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    assert page.evaluate("(box => box.scrollWidth > box.clientWidth && box.tabIndex === 0)(document.querySelector('.formula'))")


def test_a_long_name_breaks_on_a_phone(context: BrowserContext, tmp_path: Path) -> None:
    names = [f"transport.listing.compute_attention_ot_divergence_of_{what}" for what in ("queries", "a_whole_batch", "rows")]
    rows = [samples.row(id, verdict="corrected", depends_on=names[:at]) for at, id in enumerate(names)]
    root = published(tmp_path, samples.of(*rows))
    page = context.new_page()
    page.set_viewport_size({"width": 375, "height": 812})
    for name in (f"claims/{names[1]}.html", "index.html", "errata-transport.html"):
        page.goto(root + name)
        assert page.evaluate("document.documentElement.scrollWidth") <= 375, name


def test_filters_unfold_on_a_phone(context: BrowserContext, small: str) -> None:
    page = context.new_page()
    page.set_viewport_size({"width": 375, "height": 812})
    page.goto(f"{small}index.html")
    assert not page.is_visible("#verdict")
    page.click("text=Filters")
    assert page.is_visible("#verdict")
    page.select_option("#verdict", "proved")
    assert shown(page) == ["eot.1"]


GROUND = "getComputedStyle(document.documentElement).backgroundColor"
CELL = "getComputedStyle(document.querySelector('.cell')).backgroundColor"


def test_dark_follows_the_system_and_the_button_is_remembered(browser: Browser, small: str) -> None:
    grounds = {}
    for scheme in ("light", "dark"):
        context = browser.new_context(color_scheme=scheme)
        page = context.new_page()
        page.goto(f"{small}index.html")
        grounds[scheme] = page.evaluate(f"[{GROUND}, {CELL}]")
        page.click("button.theme")
        page.goto(f"{small}claims/eot.1.html")
        grounds[f"{scheme}, pressed"] = page.evaluate(GROUND)
        context.close()
    assert grounds["light"] == ["rgb(253, 252, 249)", "rgb(219, 234, 222)"]
    assert grounds["dark"] == ["rgb(22, 23, 26)", "rgb(28, 55, 39)"]
    assert grounds["light, pressed"] == grounds["dark"][0]
    assert grounds["dark, pressed"] == grounds["light"][0]


def test_paper_is_light_and_without_controls(browser: Browser, small: str) -> None:
    context = browser.new_context(color_scheme="dark")
    page = context.new_page()
    page.goto(f"{small}index.html")
    page.emulate_media(media="print")
    assert page.evaluate(CELL) == "rgb(219, 234, 222)"
    assert not page.is_visible(".filters")
    assert not page.is_visible("nav.top")
    assert page.is_visible(".cell >> nth=0")
    context.close()


# ── without ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_all_can_be_read_without_scripts(browser: Browser, small: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{small}index.html")
    assert not page.is_visible(".filters")
    assert page.locator(".claims li").count() == 11
    page.click(".cell >> nth=0")
    assert page.locator("h1").inner_text() == "Title of eot.1"
    context.close()


def test_a_window_without_storage_works(context: BrowserContext, small: str) -> None:
    context.add_init_script("Object.defineProperty(window, 'localStorage', {get() { throw new Error('denied'); }})")
    watched = Watched(context.new_page(), small)
    page = watched.open("index.html")
    page.click("button.theme")
    page.fill("#q", "geometric")
    assert shown(page) == ["geometric.7"]
    assert page.evaluate(GROUND) == "rgb(22, 23, 26)"
    assert watched.errors == []


def test_the_graph_leads_to_its_neighbours(context: BrowserContext, small: str) -> None:
    watched = Watched(context.new_page(), small)
    page = watched.open("claims/eot.2.html")
    page.click("svg a:has-text('s7.fisher-scaled')")
    page.wait_for_url("**/claims/eot.s7.fisher-scaled.html")
    assert watched.errors == []
