"""The report's page in a real browser: opened from disk, searched, folded, copied; hostile text, 1,000 findings.

Needs Chromium, its driver and selenium; skipped elsewhere, with the commands that install them.
"""

import importlib
import importlib.util
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from documents import finding, kernel, report

from kfuzz.ui.reports.document import Document
from kfuzz.ui.reports.page import as_page

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

HOSTILE = "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">\x1b[31m\x07"


def missing() -> str:
    """What to install, in one line; empty where all is there."""
    tools = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    if tools or importlib.util.find_spec("selenium") is None:
        return "no browser to look with: apt-get install chromium chromium-driver; pip install selenium"
    return ""


pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=missing() or "all there"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # selenium's own sockets
]


@pytest.fixture(scope="module")
def browser() -> Iterator["Chrome"]:
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,800"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
    yield driver
    driver.quit()


def opened(browser: "Chrome", folder: Path, *reports: Document) -> "Chrome":
    path = folder / "report.html"
    path.write_text(as_page(reports), encoding="utf-8")
    browser.get(path.as_uri())
    return browser


def texts(browser: "Chrome", selector: str) -> list[str]:
    return [one.text for one in browser.find_elements("css selector", selector) if one.is_displayed()]


def waited_for(browser: "Chrome", holds: Callable[[], bool]) -> None:
    """Until something holds that the browser does in its own time; an error where it never does."""
    wait = importlib.import_module("selenium.webdriver.support.wait")
    wait.WebDriverWait(browser, 20).until(lambda _: holds())


def test_the_first_finding_shows_its_line_and_cause_above_the_fold(browser: "Chrome", tmp_path: Path) -> None:
    source = "\n".join(f"line {number}" for number in range(1, 60))
    seen = finding(line=40, other_line=44, message="thread 1 reads shared[0], which thread 0 wrote")
    opened(browser, tmp_path, report(kernel(findings=[seen], source=source)))
    marks = browser.find_elements("css selector", ".source .mark")
    assert [mark.text.split() for mark in marks] == [["▶", "40", "line", "40"], ["▷", "44", "line", "44"]]
    assert all(mark.rect["y"] + mark.rect["height"] < 800 for mark in marks)
    assert browser.get_log("browser") == []


def test_of_three_findings_cause_and_line_are_above_the_fold(browser: "Chrome", tmp_path: Path) -> None:
    """In their summaries, with the text of the line; opened, each has the lines around it."""
    source = "\n".join(f"line {number}" for number in range(1, 60))
    some = [finding(bucket=f"mine: {kind}", kind=kind, line=line, where=f"mine.cu:{line}", message=f"cause of {kind}")
            for kind, line in (("race", 40), ("numeric", 20), ("out-of-bounds", 30))]  # fmt: skip
    opened(browser, tmp_path, report(kernel(findings=some, source=source)))
    summaries = browser.find_elements("css selector", ".finding > summary")
    assert [one.text.splitlines()[1:] for one in summaries] == [
        ["cause of race", "mine.cu:40 line 40"],
        ["cause of numeric", "mine.cu:20 line 20"],
        ["cause of out-of-bounds", "mine.cu:30 line 30"],
    ]
    assert all(one.rect["y"] + one.rect["height"] < 800 for one in summaries)


def test_a_kernels_figures_are_drawn_and_named(browser: "Chrome", tmp_path: Path) -> None:
    opened(browser, tmp_path, report(kernel(findings=[finding()])))
    names = [
        one.get_attribute("aria-label").split(":")[0] for one in browser.find_elements("css selector", ".more svg")
    ]
    assert names == [
        "Largest error of each of 60 kept trials as a share of its bound; the worst is 0.5",
        "Sizes tried",
        "Trials to find",
        "Time by part",
    ]
    edges = browser.find_elements("css selector", ".more .edge title")
    reported = [one.get_attribute("textContent") for one in edges]
    assert reported == ["n = 1: tried", "n = 9: tried", "mine: race, `return shared[0];` in trial 3"]


def test_an_element_of_the_picture_says_got_want_and_interval(browser: "Chrome", tmp_path: Path) -> None:
    wrong = {
        "output": "y",
        "index": [0, 1],
        "got": 9.0,
        "want": 1.0,
        "lo": 0.9,
        "hi": 1.1,
        "got_bits": "",
        "want_bits": "",
    }
    picture = {"output": "y", "shape": [1, 2], "got": [1.0, 9.0], "wrong": [wrong]}
    opened(browser, tmp_path, report(kernel(findings=[finding(picture=picture)])))
    said = [one.get_attribute("textContent") for one in browser.find_elements("css selector", ".picture .cell title")]
    assert said == ["y[0] = 1", "y[1] = 9\nwanted 1\nin [0.9, 1.1]"]
    assert len(browser.find_elements("css selector", ".picture .cross")) == 1  # told by more than its colour


def test_what_is_printed_is_open_and_without_controls(browser: "Chrome", tmp_path: Path) -> None:
    opened(browser, tmp_path, report(kernel(findings=[finding(bucket="a"), finding(bucket="b")])))
    browser.execute_cdp_cmd("Page.printToPDF", {})
    assert all(one.get_attribute("open") for one in browser.find_elements("css selector", ".finding"))
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert not browser.find_element("id", "filters").is_displayed()
    assert all(one.is_displayed() for one in browser.find_elements("css selector", ".command code"))
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_what_is_printed_has_the_content_of_each_finding(browser: "Chrome", tmp_path: Path) -> None:
    """Findings that are opened only for the printer were empty: their bodies are drawn after that event."""
    some = [finding(bucket=name, case="a.json", message=f"cause of {name}") for name in ("a", "b")]
    opened(browser, tmp_path, report(kernel(findings=some)))
    browser.execute_script("document.documentElement.dataset.theme = 'dark'; dispatchEvent(new Event('beforeprint'))")
    assert len(browser.find_elements("css selector", ".finding .source")) == 2
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    white = "return getComputedStyle(document.documentElement).backgroundColor"
    assert browser.execute_script(white) == "rgb(255, 255, 255)"
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_links_lead_from_a_kernel_to_a_finding_and_from_there_to_its_kind(browser: "Chrome", tmp_path: Path) -> None:
    other = finding(bucket="mine: hang", kind="hang")
    kernels = (kernel(name="right"), kernel(findings=[finding(), other]), kernel(name="odd", error="no claim"))
    opened(browser, tmp_path, report(*kernels))
    rows = browser.find_elements("css selector", "tbody tr:not(.more)")
    assert [one.text.split()[0] for one in rows] == ["mine", "odd", "right"]  # what needs attention comes first
    browser.find_element("link text", "hang").click()
    waited_for(browser, lambda: bool(browser.find_element("id", "finding-1").get_attribute("open")))
    browser.find_element("link text", "what hang means").click()
    waited_for(browser, lambda: bool(browser.find_element("id", "kind-hang").get_attribute("open")))
    assert "What to do" in browser.find_element("id", "kind-hang").text


def test_a_table_holds_eighty_one_kernels_and_draws_figures_when_asked(browser: "Chrome", tmp_path: Path) -> None:
    opened(browser, tmp_path, report(*(kernel(name=f"softmax/kernel_{number}") for number in range(81))))
    assert len(browser.find_elements("css selector", "tbody tr:not(.more)")) == 81
    assert browser.find_elements("css selector", "tbody svg") == []
    assert max(row.rect["height"] for row in browser.find_elements("css selector", "tbody tr:not(.more)")) < 40
    browser.find_element("css selector", ".fold").click()
    assert len(browser.find_elements("css selector", "tbody svg")) == 3


def test_the_threads_of_a_race_are_drawn_in_their_launch(browser: "Chrome", tmp_path: Path) -> None:
    threads = {"grid": [4, 1, 1], "block_size": [128, 1, 1], "thread": [1, 0, 0], "block": [0, 0, 0],
               "other_thread": [64, 0, 0], "other_block": [0, 0, 0]}  # fmt: skip
    opened(browser, tmp_path, report(kernel(findings=[finding(threads=threads)])))
    figure = browser.find_element("css selector", ".threads")
    assert figure.text.splitlines()[0] == "launch of 4 blocks of 128 threads"
    assert "block 0: A is thread 1, B is thread 64" in figure.text
    assert [one.text for one in figure.find_elements("css selector", "svg text:not(.letter)")] == ["warp 0", "warp 2"]
    apart = {**threads, "other_block": [3, 0, 0]}
    opened(browser, tmp_path, report(kernel(findings=[finding(threads=apart)])))
    assert "block 3: B is thread 64" in browser.find_element("css selector", ".threads").text


@pytest.mark.parametrize(("got", "said"), [([2.0, 2.0], "every finite element is 2;"), ([1.0, 9.0], "1 9;")])
def test_the_legend_of_a_picture_holds_in_both_themes(
    browser: "Chrome", tmp_path: Path, got: list[float], said: str
) -> None:
    """It was `light 2 ... dark 2`, and in the dark theme the other way round."""
    picture = {"output": "y", "shape": [1, 2], "got": got, "wrong": []}
    opened(browser, tmp_path, report(kernel(findings=[finding(picture=picture)])))
    legend = browser.find_element("css selector", ".scale").text
    assert " ".join(legend.split()).startswith(said)


def test_the_focus_ring_of_a_finding_lies_inside_of_it(browser: "Chrome", tmp_path: Path) -> None:
    """Outside, `content-visibility` would cut it off."""
    opened(browser, tmp_path, report(kernel(findings=[finding(bucket="a"), finding(bucket="b")])))
    browser.find_element("css selector", "body").send_keys("j")
    offset = "return getComputedStyle(document.activeElement).outlineOffset"
    assert browser.execute_script(offset) == "-2px"


def test_text_from_files_is_text(browser: "Chrome", tmp_path: Path) -> None:
    seen = finding(bucket=HOSTILE, message=HOSTILE, words=HOSTILE, case=HOSTILE)
    opened(browser, tmp_path, report(kernel(name=HOSTILE, error=HOSTILE, findings=[seen])))
    assert browser.title.startswith("kfuzz")
    assert "<img src=x" in texts(browser, ".finding")[0]
    assert browser.find_elements("css selector", "img") == []
    assert browser.get_log("browser") == []


def test_a_search_leaves_what_fits_and_says_how_many(browser: "Chrome", tmp_path: Path) -> None:
    some = [finding(bucket=f"mine: race, line {number}") for number in range(20)]
    opened(browser, tmp_path, report(kernel(findings=[*some, finding(bucket="mine: hang", kind="hang")])))
    box = browser.find_element("id", "search")
    box.send_keys("line 7")
    assert [text.splitlines()[0] for text in texts(browser, ".finding summary")] == ["BROKEN mine: race, line 7"]
    assert texts(browser, "#count") == ["1 of 21 findings"]
    box.clear()
    box.send_keys(" ")
    browser.find_element("css selector", "#kind option[value=hang]").click()
    waited_for(browser, lambda: texts(browser, "#count") == ["1 of 21 findings"])


def test_a_thousand_findings_open_in_a_second_and_fold(browser: "Chrome", tmp_path: Path) -> None:
    some = [finding(bucket=f"mine: race, line {number}", words="x" * 300) for number in range(1000)]
    browser.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})  # whatever else the machine does
    opened(browser, tmp_path, report(kernel(findings=some)))
    figures = browser.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    assert next(one["value"] for one in figures if one["name"] == "TaskDuration") < 1
    first = browser.find_element("css selector", ".finding")
    assert not first.get_attribute("open")
    first.find_element("css selector", "summary").click()
    assert first.get_attribute("open")
    first.find_element("css selector", "summary").click()
    assert not first.get_attribute("open")


def test_a_command_is_copied_also_from_disk(browser: "Chrome", tmp_path: Path) -> None:
    opened(browser, tmp_path, report(kernel(findings=[finding(case="a case.json")])))
    button = browser.find_element("css selector", ".command button")
    button.click()
    waited_for(browser, lambda: button.text == "Copied")


def test_every_control_has_a_name(browser: "Chrome", tmp_path: Path) -> None:
    opened(browser, tmp_path, report(kernel(findings=[finding()])))
    tree = browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    roles = {"button", "textbox", "searchbox", "combobox", "checkbox", "link", "DisclosureTriangle", "image", "img"}
    controls = [node for node in tree if node.get("role", {}).get("value") in roles and not node.get("ignored")]
    assert len(controls) > 7
    assert [node for node in controls if not node.get("name", {}).get("value")] == [], json.dumps(controls)[:2000]


def test_the_theme_can_be_switched_and_keys_move_between_findings(browser: "Chrome", tmp_path: Path) -> None:
    opened(browser, tmp_path, report(kernel(findings=[finding(bucket="mine: one"), finding(bucket="mine: two")])))
    scheme = "return getComputedStyle(document.documentElement).colorScheme"
    before = browser.execute_script(scheme)
    browser.find_element("id", "theme").click()
    assert browser.execute_script(scheme) != before
    body = browser.find_element("css selector", "body")
    body.send_keys("j")
    browser.switch_to.active_element.send_keys("j")
    assert "mine: two" in browser.switch_to.active_element.text
