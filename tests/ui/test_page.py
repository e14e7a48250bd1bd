"""The page in a real browser: sign in, open it, read what was done and why."""

from __future__ import annotations

import shutil

import pytest

pytestmark = pytest.mark.ui
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="module")
def browser():
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("there is no chromium on this machine")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture(params=["light", "dark"])
def page(request, browser, running_shop):
    """A page that is signed in as a viewer, with all that its console complains about."""
    airflow = running_shop.airflow
    context = browser.new_context(
        color_scheme=request.param, viewport={"width": 1400, "height": 1000}
    )
    page = context.new_page()
    page.complaints = []
    page.on("console", lambda line: line.type == "error" and page.complaints.append(line.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.goto(airflow.url)
    page.fill("input[name=username]", "vera")
    page.fill("input[name=password]", airflow.password("vera"))
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-testid=nav-sidebar]")
    page.complaints.clear()
    yield page
    context.close()


def test_the_page_says_what_was_done_and_why(page, running_shop, tmp_path):
    page.goto(f"{running_shop.airflow.url}/plugin/slacktide")
    inside = page.frame_locator("iframe")
    views = inside.get_by_role("table", name="Views")
    row = views.get_by_role("row").filter(has_text="revenue")
    row.wait_for()
    assert "up to date" in row.inner_text() or "waiting" in row.inner_text()
    assert row.locator("td").nth(3).inner_text() in {"full", "incremental"}
    runs = inside.get_by_role("table", name="Last runs")
    first = runs.get_by_role("row").filter(has_text="FIRST_RUN")
    assert "there is no answer yet to go on from" in first.inner_text()
    assert "orders" in inside.get_by_role("table", name="Sources").inner_text()
    page.screenshot(path=tmp_path / "page.png", full_page=True)
    assert page.complaints == []


AGREE = """() => {
    const wanted = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    const inner = document.querySelector("iframe")?.contentDocument?.documentElement;
    return document.documentElement.classList.contains(wanted) && inner?.dataset.theme === wanted;
}"""


def test_it_follows_the_theme_of_airflow(page, running_shop):
    page.goto(f"{running_shop.airflow.url}/plugin/slacktide")
    page.wait_for_function(AGREE)


def test_it_is_in_the_navigation(page):
    page.get_by_test_id("nav-sidebar").get_by_text("Browse").click()
    page.get_by_role("menuitem", name="Slacktide").click()
    page.wait_for_url("**/plugin/slacktide**")
    page.frame_locator("iframe").get_by_role("heading", name="Slacktide").wait_for()
    assert page.complaints == []
