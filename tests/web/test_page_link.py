"""A server that goes away, ends or forgets the page; how the page looks and who can use it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from condor_pydagman.web.application import PAGE
from tests.web.server import Open, Serve, show
from tests.web.study import Study

MARKUP = r"innerHTML|outerHTML|insertAdjacentHTML|\beval\(|new Function|document\.write"
INLINE = r"\son\w+=|\sstyle=|<style|<script(?! type=\"module\" src=)"
VIEWS = ("picture", "nodes", "timeline", "explain", "files")
# Contrast of each text with what is behind it; AA wants 4.5, of large texts 3.
CONTRAST = """() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const parse = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((v, i) => v * a + below[i] * (1 - a));
  const ground = (element) => {
    if (!element) return [255, 255, 255];
    const style = getComputedStyle(element);
    const own = parse(element instanceof SVGElement ? 'transparent' : style.backgroundColor);
    return own[3] === 1 ? own.slice(0, 3) : over(own, ground(element.parentElement));
  };
  const light = (colour) => {
    const [r, g, b] = colour.map((v) => v / 255)
      .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const bad = [];
  let seen = 0;
  for (const element of document.body.querySelectorAll('*')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const isUnseen = element.closest('option, .unseen, title, .skip') || element.disabled;
    if (!own || isUnseen || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const body = element.closest('.box')?.querySelector('.body');
    const below = body ? over(parse(getComputedStyle(body).fill), [0, 0, 0]) : ground(element);
    const isDrawn = element instanceof SVGElement;
    const ink = over(parse(isDrawn ? style.fill : style.color), below);
    const [high, low] = [light(ink), light(below)].sort((a, b) => b - a);
    const ratio = (high + 0.05) / (low + 0.05);
    const large = parseFloat(style.fontSize) >= 18.6 && style.fontWeight >= 600;
    if (ratio < (large ? 3 : 4.5))
      bad.push(`${element.tagName} ${element.textContent.slice(0, 30)}: ${ratio.toFixed(2)}`);
    seen += 1;
  }
  return seen > 20 ? bad : ['too few texts'];
}"""


def test_a_server_that_goes_away_and_comes_back(serve: Serve, open_page: Open, dag: Study) -> None:
    server, node = serve(dag), dag.names.index("merge")
    page = open_page(server, "", "net::ERR")
    page.locator(f"[data-box=n{node}]").wait_for()
    server.stop()
    banner = page.locator("#banner")
    banner.filter(has_text="Not connected").wait_for()
    banner.filter(has_text=re.compile("Next try in|Trying")).wait_for()
    dag.set(node, "running")
    server.start()
    page.locator(".link-state[data-state=live]").wait_for()
    banner.wait_for(state="hidden")
    page.locator(f"[data-box=n{node}].s-running").wait_for()
    dag.set(node, "done")
    page.locator(f"[data-box=n{node}].s-done").wait_for()


def test_another_start_of_the_server_is_told(serve: Serve, open_page: Open, dag: Study) -> None:
    server = serve(dag)
    page = open_page(server, "", "Failed to load resource")
    page.locator(".box").first.wait_for()
    server.access._session = "another"
    server.stop()
    server.start()
    page.locator("#banner", has_text="open the whole address").wait_for()
    assert page.locator(".link-state").inner_text() == "not connected"


def test_a_server_that_reads_the_files_is_connected(
    serve: Serve, open_page: Open, dag: Study
) -> None:
    server = serve(dag)
    dag.problem = "the DAG's files are being read"
    page = open_page(server, expected="status of 503")
    show(page, server, "")
    banner = page.locator("#banner", has_text="The server is not ready: the DAG's files are being")
    banner.wait_for()
    assert "Not connected" not in banner.inner_text()
    assert page.locator(".waiting-words").inner_text() == "Reading the DAG…"
    dag.problem = ""
    page.locator(".link-state[data-state=live]").wait_for()
    banner.wait_for(state="hidden")


def test_a_dag_that_is_not_known(serve: Serve, open_page: Open, dag: Study) -> None:
    page = open_page(serve(dag), expected="status of 404")
    page.evaluate("() => { location.hash = '#/0123456789abcdef/nodes' }")
    page.locator("#banner", has_text="this DAG does not exist any more").wait_for()
    page.get_by_role("link", name="DAGs").click()
    page.locator(".dags .dag-name").wait_for()
    page.locator("#banner").wait_for(state="hidden")


def test_the_end_is_shown(serve: Serve, open_page: Open, dag: Study) -> None:
    page = open_page(serve(dag), "")
    dag.set_many(range(len(dag.names)), "done")
    dag.word, dag.exit_code, dag.ended = "succeeded", 0, dag.begun + 7200
    page.locator(".link-state[data-state=ended]").wait_for()
    page.locator(".dag-state", has_text="succeeded, exit code 0").wait_for()
    page.locator(".numbers", has_text="2 h").wait_for()
    page.locator("#announcer", has_text="succeeded").wait_for(state="attached")
    assert page.locator("#banner").is_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(serve: Serve, open_page: Open, dag: Study, scheme: str) -> None:
    server, node = serve(dag), dag.layers["reconstruct"][1]
    page = open_page(server, f"picture/{node}", color_scheme=scheme, reduced_motion="reduce")
    page.locator(".box").first.wait_for()
    for view in VIEWS:
        show(page, server, f"{view}/{node}")
        page.locator(f"#view-{view}").wait_for()
        page.wait_for_timeout(150)
        assert page.evaluate(CONTRAST) == [], view
    page.get_by_role("button", name="Remove the DAG").click()
    page.get_by_role("dialog").wait_for()
    assert page.evaluate(CONTRAST) == []


def test_the_colours_can_be_chosen(serve: Serve, open_page: Open, dag: Study) -> None:
    page = open_page(serve(dag), color_scheme="light")
    ground = "() => getComputedStyle(document.body).backgroundColor"
    grounds = [page.evaluate(ground)]
    for _ in range(2):
        page.locator("#theme").click()
        grounds.append(page.evaluate(ground))
    assert grounds == ["rgb(255, 255, 255)", "rgb(255, 255, 255)", "rgb(20, 23, 27)"]
    page.reload()
    assert page.evaluate(ground) == grounds[-1]


def test_nothing_moves_for_who_does_not_want_it(serve: Serve, open_page: Open, dag: Study) -> None:
    page = open_page(serve(dag), "", reduced_motion="reduce")
    page.locator(".box").first.wait_for()
    moving = """() => [...document.querySelectorAll('*')].filter((element) => {
        const style = getComputedStyle(element);
        return style.transitionDuration !== '0s' || style.animationName !== 'none';
    }).length"""
    dag.set(dag.names.index("merge"), "running")
    page.locator(".news").wait_for()
    assert page.evaluate(moving) == 0


@pytest.mark.parametrize("width", [1300, 400])
def test_everything_has_a_name_and_fits(
    serve: Serve, open_page: Open, dag: Study, width: int
) -> None:
    server = serve(dag)
    page = open_page(server, "", width=width)
    nameless = """() => [...document.querySelectorAll('button, input, select, textarea, a')]
        .filter((e) => e.checkVisibility())
        .filter((e) => !(e.getAttribute('aria-label') || e.labels?.length || e.textContent.trim()))
        .map((e) => e.outerHTML.slice(0, 100))"""
    for view in VIEWS:
        show(page, server, f"{view}/1")
        page.locator(f"#view-{view}").wait_for()
        page.locator("aside dl").first.wait_for()
        assert page.evaluate(nameless) == []
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), view
        selected = page.locator("[role=tab][aria-selected=true]")
        assert selected.get_attribute("aria-controls") == f"view-{view}"


def test_all_can_be_reached_by_tab(serve: Serve, open_page: Open, dag: Study) -> None:
    page = open_page(serve(dag), "nodes")
    page.locator(".rows .row").first.wait_for()
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("() => document.activeElement.textContent.slice(0, 20)"))
        reached.add(page.evaluate("() => document.activeElement.getAttribute('role')"))
    assert {"Skip to content", "Halt", "Remove the DAG", "Select all 90", "tab", "row"} <= reached


@pytest.mark.parametrize("path", sorted(Path(PAGE).iterdir()), ids=lambda path: path.name)
def test_files_are_short_and_take_nothing_from_elsewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 1000
    assert all(len(line) <= 125 for line in text.splitlines()) or path.suffix == ".svg"
    if path.suffix == ".js":
        assert text.startswith("// "), "what it holds stands first"
        assert not re.search(MARKUP, text)
    links = re.findall(r"https?://[^\s\"']+", text)
    assert all(link == "http://www.w3.org/2000/svg" for link in links)
    assert path.suffix != ".html" or not re.search(INLINE, text)
