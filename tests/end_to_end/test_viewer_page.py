"""The viewer's page in a real browser."""

import shutil
import threading
import time
from contextlib import contextmanager
from itertools import pairwise
from xml.etree import ElementTree

import gymnasium
import numpy as np
import pytest
from PIL import Image
from test_report_page import BROWSER, BROWSER_PATIENCE, FLAGS
from test_viewer_runs import small_run

from olive_iw.algorithms import make_agent
from olive_iw.viewer import live_viewer, run_viewer
from olive_iw.viewer.shown_episode import ShownEpisode

pytestmark = pytest.mark.skipif(
    BROWSER is None, reason="no browser: apt-get install chromium to test the viewer in one"
)
playwright = pytest.importorskip(
    "playwright.sync_api", reason="pip install playwright to test the viewer in a browser"
)
PATIENCE = 120
HELPED = (
    """location.protocol === "http:" && localStorage.setItem("olive-iw-viewer-helped", "yes")"""
)


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(
            executable_path=BROWSER, args=list(FLAGS), timeout=BROWSER_PATIENCE
        )
        yield started
        started.close()


@contextmanager
def page_of(browser, opened, hash_part="", helped=True, **look):
    """Open a viewer's page; afterwards nothing may have been complained of.

    helped: whether it is not the first visit, at which the help is shown
    """
    complaints, addresses = [], []
    look = {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light", **look}
    with opened as viewer:
        thread = threading.Thread(target=viewer.serve, daemon=True)
        thread.start()
        context = browser.new_context(**look)
        context.set_default_timeout(BROWSER_PATIENCE)
        tab = context.new_page()
        if helped:
            tab.add_init_script(HELPED)
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("request", lambda request: addresses.append(request.url))
        tab.goto(viewer.address + hash_part)
        try:
            yield tab
        finally:
            context.close()
            viewer.stop()
            thread.join(timeout=PATIENCE)
    assert complaints == []
    own = (viewer.address, "data:", "blob:")
    assert [address for address in addresses if not address.startswith(own)] == []


def until(tab, expression):
    """Wait for an expression to be true (the page's own policy forbids it to wait by itself)."""
    end = time.monotonic() + PATIENCE
    while not tab.evaluate(expression):
        assert time.monotonic() < end, f"never: {expression}"
        time.sleep(0.03)


def until_decision(tab, decision, stage="decided"):
    until(
        tab,
        f"document.body.dataset.decision === '{decision}' && "
        f"document.body.dataset.stage === '{stage}'",
    )


def scrub_to(tab, decision):
    """Move the slider to another decision than the one shown."""
    tab.locator("#scrub").fill(str(decision))
    until_decision(tab, decision)


def live(game, calls=None, algorithm="patch-iw"):
    settings = {} if calls is None else {"calls_per_action": calls}
    return live_viewer(game, make_agent(algorithm, **settings), port=0)


def point_at_a_node(tab):
    """Move the mouse over the tree until a node tells its details."""
    box = tab.locator("#tree").bounding_box()
    for across in range(60, int(box["width"]) - 10, 10):
        for down in range(10, int(box["height"]) - 10, 10):
            tab.mouse.move(box["x"] + across, box["y"] + down)
            if tab.evaluate("document.getElementById('tree').dataset.pointed"):
                until(tab, "document.querySelector('#tip:not([hidden]) .why') !== null")
                return
    raise AssertionError("no node was pointed at")


def test_a_grid_world_live(browser):
    with page_of(browser, live("grid:collect", calls=40)) as tab:
        until(tab, "Number(document.body.dataset.decision) >= 3")
        tab.keyboard.press("Space")
        until(tab, "document.getElementById('play').textContent === 'Play'")
        scrub_to(tab, 1)
        for rollouts in (1, 2):
            tab.keyboard.press("r")
            until_decision(tab, 2, "searching")
            until(tab, f"document.getElementById('rollouts').textContent === '{rollouts}'")
        tab.keyboard.press("d")
        until_decision(tab, 2)
        tab.click("#step-decision")
        until_decision(tab, 3)
        nodes = tab.evaluate("parseInt(document.getElementById('nodes').textContent)")
        until(tab, f"document.getElementById('tree').dataset.drawn === '3:{nodes}'")
        assert tab.locator("#actions tr.chosen").count() == 1
        assert "led to a sibling's state" in tab.inner_text("#tally")
        point_at_a_node(tab)
        text = tab.inner_text("#tip")
        assert "depth" in text
        assert "reward" in text
        assert "atoms were new" in text
        tab.keyboard.press("ArrowLeft")
        until_decision(tab, 2)
        tab.click("#link")
        assert "decision=2" in tab.evaluate("location.hash")
        tab.keyboard.press("+")
        until(tab, "document.getElementById('speed').value === '3'")


def test_breakout_live(browser):
    with page_of(browser, live("breakout", calls=25)) as tab:
        until(tab, "Number(document.body.dataset.decision) >= 3")
        size = tab.locator("#screen").bounding_box()
        assert size["width"] / size["height"] == pytest.approx(4 / 3, rel=0.02)
        until(tab, "document.getElementById('screen').naturalHeight === 210")
        assert tab.inner_text("#lives") == "5"
        # In colour: the red wall of Breakout.
        red = tab.evaluate(
            "() => { const canvas = document.createElement('canvas'), image = "
            "document.getElementById('screen'); canvas.width = 160; canvas.height = 210; const "
            "context = canvas.getContext('2d'); context.drawImage(image, 0, 0); "
            "return [...context.getImageData(80, 60, 1, 1).data]; }"
        )
        assert red[:3] == [200, 72, 72]


def test_a_link_leads_to_a_decision_and_the_tree_zooms(browser):
    opened = live("grid:lava", calls=60, algorithm="uct")
    with page_of(browser, opened, "#decision=4", color_scheme="dark") as tab:
        until(tab, "document.getElementById('play').textContent === 'Play'")
        until_decision(tab, 4)
        tab.click("#play")
        until(tab, "Number(document.body.dataset.decision) >= 5")
        scrub_to(tab, 2)

        def image():
            tab.evaluate("() => new Promise(done => requestAnimationFrame(() => done()))")
            return tab.evaluate("document.getElementById('tree').toDataURL()")

        def until_image(wanted):
            end = time.monotonic() + PATIENCE
            while not wanted(found := image()):
                assert time.monotonic() < end, "the image never came"
            return found

        until(tab, "document.getElementById('tree').dataset.drawn.startsWith('2:')")
        fitted = image()
        box = tab.locator("#tree").bounding_box()
        tab.mouse.move(box["x"] + 300, box["y"] + 200)
        tab.mouse.wheel(0, -400)
        zoomed = until_image(lambda found: found != fitted)
        tab.mouse.down()
        tab.mouse.move(box["x"] + 400, box["y"] + 260, steps=3)
        tab.mouse.up()
        until_image(lambda found: found != zoomed)
        tab.mouse.move(1, 1)
        tab.keyboard.press("f")
        until_image(lambda found: found == fitted)
        dark = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        tab.emulate_media(color_scheme="light")
        until(tab, f"getComputedStyle(document.body).backgroundColor !== '{dark}'")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return small_run(tmp_path_factory.mktemp("viewer-page"))


def test_a_finished_run_is_scrubbed(browser, folder):
    with page_of(browser, run_viewer(folder, port=0)) as tab:
        until(tab, "document.querySelectorAll('#episode option').length === 5")
        until_decision(tab, 0)  # it opens with a tree, not before the first search
        assert tab.locator("#actions tr.chosen").count() == 1
        scrub_to(tab, 6)
        assert "every decision matches" in tab.inner_text("#match")
        until(tab, "document.getElementById('tree').dataset.drawn.startsWith('6:')")
        scrub_to(tab, 2)
        tab.click("#forth")
        until_decision(tab, 3)
        assert tab.is_visible("#network")
        assert "of 5,120" in tab.inner_text("#bits-caption")
        until(tab, "document.querySelectorAll('#newest img').length === 12")
        assert tab.locator("#charts svg").count() == 3
        assert "3 training episodes" in tab.inner_text("#training-figures")
        tab.select_option("#episode", "training-0001")
        until_decision(tab, 0, "shown")
        assert "trained further" in tab.inner_text("#no-tree")
        assert tab.is_disabled("#step-rollout")
        tab.click("#step-decision")
        until_decision(tab, 1, "shown")
        tab.click("#link")
        address = tab.evaluate("location.href")
        tab.select_option("#episode", "evaluation-0001")
        until_decision(tab, 0)
        tab.goto("about:blank")
        tab.goto(address)
        until_decision(tab, 1, "shown")


WORST_ACTIONS = """() => [...document.getElementById("actions").rows].forEach((row) => {
    const [name, value, visits, mean] = row.cells;
    name.textContent = "DOWNRIGHTFIRE ● ○";
    value.textContent = "−5,000,000";
    visits.lastChild.textContent = "10,000";
    mean.textContent = "−500,000 ± 353,553";
})"""
CLIPPED = """() => [...document.querySelectorAll(".actions td, .actions th")].filter((cell) => {
    const inner = document.createRange();
    inner.selectNodeContents(cell);
    const text = inner.getBoundingClientRect(), box = cell.getBoundingClientRect();
    const panel = cell.closest(".scroll").getBoundingClientRect();
    const right = Math.min(box.right, panel.right), left = Math.max(box.left, panel.left);
    return text.right > right + 0.5 || text.left < left - 0.5;
}).map((cell) => cell.textContent)"""


@pytest.mark.parametrize("width", [390, 768, 1100, 1280, 1366, 1440])
def test_the_value_that_decides_is_never_clipped(browser, folder, width):
    look = {"viewport": {"width": width, "height": 900}}
    with page_of(browser, run_viewer(folder, port=0), **look) as tab:
        until_decision(tab, 0)
        until(tab, "document.querySelectorAll('#newest img').length === 12")
        assert tab.is_visible("#network")
        for prepare in ("() => 0", WORST_ACTIONS):
            tab.evaluate(prepare)
            assert tab.evaluate(CLIPPED) == []
            scroll = "document.querySelector('.actions .scroll')"
            assert tab.evaluate(f"{scroll}.scrollWidth - {scroll}.clientWidth") == 0
            assert tab.evaluate("document.documentElement.scrollWidth") == width


def test_the_roots_edges_carry_their_actions(browser):
    """Every text that is drawn is noted, by the canvas's own method."""
    with page_of(browser, live("grid:collect", calls=40)) as tab:
        until(tab, "Number(document.body.dataset.decision) >= 1")
        tab.click("#play")
        until(tab, "document.getElementById('play').textContent === 'Play'")
        tab.evaluate(
            "() => { window.drawn = []; const draw = CanvasRenderingContext2D.prototype.fillText; "
            "CanvasRenderingContext2D.prototype.fillText = function (text, x, y) "
            "{ window.drawn.push([text, x, y]); draw.call(this, text, x, y); }; }"
        )
        scrub_to(tab, 0)
        until(tab, "document.getElementById('tree').dataset.drawn.startsWith('0:')")
        until(tab, "window.drawn.length >= 4")
        tab.evaluate("() => { window.drawn = []; document.getElementById('fit').click(); }")
        until(tab, "window.drawn.length >= 4")
        actions = tab.evaluate(
            "[...document.getElementById('actions').rows].map(row => row.dataset.name)"
        )
        names = [line for line in tab.evaluate("window.drawn") if line[0] in actions]
        names.sort(key=lambda line: line[2])
        assert [name for name, _, _ in names] == actions
        heights = [y for _, _, y in names]
        assert all(below - above >= 11 for above, below in pairwise(heights))
        assert all(0 < y < tab.locator("#tree").bounding_box()["height"] for y in heights)


def greyed(tab, part):
    return tab.evaluate(f"getComputedStyle(document.querySelector('{part}')).filter") != "none"


@pytest.mark.parametrize("what", ["record", "pictures", "numbers"])
def test_what_is_not_recomputed_yet_is_grey(browser, folder, monkeypatch, what):
    recorded, seen = what == "record", "#numbers" if what == "numbers" else "#screen"
    asked, go_on, decide = threading.Event(), threading.Event(), ShownEpisode.decide

    def decide_later(shown):
        if shown.decision and asked.is_set():  # not what is played before the slider is moved
            assert go_on.wait(PATIENCE)
        decide(shown)

    game = ("gym:CartPole-v1", 20, "value-iw") if what == "numbers" else ("grid:collect", 20)
    opened = run_viewer(folder, port=0) if recorded else live(*game)
    monkeypatch.setattr(ShownEpisode, "decide", decide_later)
    with page_of(browser, opened) as tab:
        until(tab, "document.body.dataset.stage")
        if not recorded:
            tab.click("#play")
        scrub = "document.getElementById('scrub')"
        asked.set()
        tab.evaluate(f"() => {{ {scrub}.max = 9; {scrub}.value = 7; {scrub}.oninput(); }}")
        try:
            until_decision(tab, 7, "recomputing")
            assert greyed(tab, "#tree")
            assert greyed(tab, "#actions")
            assert greyed(tab, seen) == (not recorded)
            assert tab.inner_text("#calls") == tab.inner_text("#rollouts") == "–"
            assert (tab.inner_text("#score") == "–") == (not recorded)
            if recorded:
                assert greyed(tab, ".views")
        finally:
            go_on.set()
        until_decision(tab, 7)
        assert not any(greyed(tab, part) for part in ("#tree", "#actions", seen))
        assert tab.inner_text("#rollouts") != "–"


def test_one_of_many_runs_is_opened(browser, folder, tmp_path):
    for name in ("a", "b", "damaged"):
        shutil.copytree(folder, tmp_path / name)
    (tmp_path / "damaged" / "config.toml").write_text("<b>not</b> = [toml")
    with page_of(browser, run_viewer(tmp_path, port=0), "#run=b&episode=evaluation-0001") as tab:
        until(tab, "document.getElementById('run').value === 'b'")
        assert tab.locator("#run option").count() == 2
        assert "damaged/config.toml" in tab.inner_text("#left-out")
        until(tab, "document.getElementById('episode').value === 'evaluation-0001'")
        until_decision(tab, 0)
        tab.select_option("#run", "a")
        until(tab, "document.getElementById('episode').value === 'evaluation-0000'")
        until_decision(tab, 0)
        assert "run=a" in tab.evaluate("document.getElementById('link').click(), location.hash")


def test_a_run_that_is_being_trained(browser, folder, tmp_path):
    copy = tmp_path / "young"
    shutil.copytree(folder, copy)
    (copy / "result.json").unlink()
    lines = (copy / "events.jsonl").read_text().splitlines(keepends=True)
    (copy / "events.jsonl").write_text(lines[0])
    episodes = sorted((copy / "episodes").iterdir())
    kept = [path.read_bytes() for path in episodes]
    for path in episodes:
        path.unlink()
    with page_of(browser, run_viewer(copy, port=0)) as tab:
        until(tab, "document.getElementById('note').textContent.includes('no episode')")
        figures = "document.getElementById('training-figures').textContent"
        until(tab, f"{figures}.includes('no training episode is finished')")
        for path, content in zip(episodes, kept, strict=True):
            path.write_bytes(content)
        (copy / "events.jsonl").write_text("".join(lines))
        until(tab, "document.querySelectorAll('#charts circle').length > 3")
        until_decision(tab, 0)


def test_a_narrow_screen_and_another_origin(browser):
    opened = live("grid:key-door", calls=30)
    look = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    with page_of(browser, opened, **look) as tab:
        until(tab, "Number(document.body.dataset.decision) >= 2")
        assert tab.evaluate("document.documentElement.scrollWidth") == 390
        tab.tap("#play")
        until(tab, "document.getElementById('play').textContent === 'Play'")
        scrub_to(tab, 0)
        tab.tap("#step-decision")
        until_decision(tab, 1)
        tab.locator("#tree").scroll_into_view_if_needed()
        box = tab.locator("#tree").bounding_box()
        tab.touchscreen.tap(box["x"] + 26, box["y"] + box["height"] / 2)
        assert tab.evaluate("document.documentElement.scrollWidth") == 390
        before = tab.get_attribute("body", "data-decision")
        own = tab.evaluate("location.origin")
        other = browser.new_page()  # the same server by another name is another origin
        other.goto(own.replace("127.0.0.1", "localhost") + "/")
        refused = other.evaluate(
            "address => fetch(address, {method: 'POST', body: '{\"type\":\"decision\"}'})"
            ".then(() => 'answered', () => 'refused')",
            own + "/api/command",
        )
        other.close()
        assert refused == "refused"
        assert tab.get_attribute("body", "data-decision") == before


def test_help_is_shown_until_it_is_closed(browser):
    with page_of(browser, live("grid:corridor", calls=10), helped=False) as tab:
        assert tab.is_visible("#help")
        tab.reload()
        assert tab.is_visible("#help")
        tab.click("#help-close")
        tab.reload()
        until(tab, "document.body.dataset.stage !== undefined")
        assert not tab.is_visible("#help")
        tab.click("#help-open")
        assert tab.is_visible("#help")
        assert tab.get_attribute("#help-open", "aria-expanded") == "true"
        tab.keyboard.press("h")
        assert not tab.is_visible("#help")


def paused_at(tab, decision):
    """Pause a live play, and go to a decision."""
    until(tab, "Number(document.body.dataset.decision) >= 1")
    tab.click("#play")
    until(tab, "document.getElementById('play').textContent === 'Play'")
    scrub = "document.getElementById('scrub')"
    tab.evaluate(f"() => {{ {scrub}.max = 99; {scrub}.value = {decision}; {scrub}.oninput(); }}")
    until_decision(tab, decision)
    until(tab, f"document.getElementById('tree').dataset.drawn.startsWith('{decision}:')")


NAMES = "[...document.getElementById('actions').rows].map(row => row.dataset.name)"
SAID = "document.getElementById('said').textContent"


def in_tree(tab, what, *given):
    """Ask the page's tree, `tree` in the expression."""
    return tab.evaluate(f"given => import('/viewer.js').then(({{tree}}) => {what})", *given)


def test_an_environment_without_pictures_shows_its_numbers(browser):
    env = gymnasium.make("CartPole-v1")
    with page_of(
        browser, live_viewer(env, make_agent("value-iw", calls_per_action=40), port=0)
    ) as tab:
        paused_at(tab, 2)
        assert not tab.is_visible("#screen")
        rows = tab.locator("#numbers tbody tr")
        assert rows.count() == 4
        assert float(rows.nth(0).locator("td").first.inner_text()) == pytest.approx(0, abs=0.1)
        assert "CartPole-v1" in tab.inner_text("#title")
        tab.focus("#tree")
        for _ in range(3):
            tab.keyboard.press("ArrowRight")
        until(tab, "document.querySelector('#tip:not([hidden]) table') !== null")
        assert tab.locator("#tip canvas").count() == 0
        assert tab.locator("#tip tbody tr").count() == 4
        assert "atoms were new" in tab.inner_text("#tip")


class Hostile(gymnasium.Env):
    """Its names would be a picture and a script if they were taken for HTML; there are many."""

    action_space = gymnasium.spaces.Discrete(2)
    name = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    observation_space = gymnasium.spaces.Dict({name: gymnasium.spaces.Box(-9, 9, (3000,))})

    def reset(self, **options):
        super().reset(**options)
        self.count = 0
        return self.look(), {}

    def look(self):
        return {self.name: np.full(3000, self.count / 7, np.float32)}

    def step(self, action):
        self.count += int(action)
        return self.look(), float(action), False, False, {}


def test_names_of_numbers_are_no_html_and_few_are_shown(browser):
    agent = make_agent("value-iw", calls_per_action=10)
    with page_of(browser, live_viewer(Hostile(), agent, port=0)) as tab:
        until(tab, "document.body.dataset.decision >= 1")
        assert tab.locator("#numbers tbody tr").count() == 200
        assert Hostile.name in tab.inner_text("#numbers")
        assert tab.locator("#numbers :is(img, script)").count() == 0
        assert tab.evaluate("document.documentElement.scrollWidth") == 1280


def test_the_tree_is_saved_as_svg_and_png(browser, tmp_path):
    with page_of(
        browser, live("grid:collect", calls=40), viewport={"width": 1000, "height": 800}
    ) as tab:
        paused_at(tab, 1)
        saved = {}
        for kind in ("svg", "png"):
            with tab.expect_download() as download:
                tab.click(f"#save-{kind}")
            saved[kind] = tmp_path / download.value.suggested_filename
            download.value.save_as(saved[kind])
        assert saved["svg"].name.startswith("grid-collect-patch-iw-laptop")
        assert saved["svg"].name.endswith("decision-1.svg")
        box = tab.locator("#tree").bounding_box()
        picture = Image.open(saved["png"])
        assert picture.size == (int(3 * box["width"]), int(3 * box["height"]))
        assert len(picture.convert("RGB").getcolors(1 << 20)) > 20
        svg = ElementTree.parse(saved["svg"]).getroot()
        texts = [text.text for text in svg.iter("{http://www.w3.org/2000/svg}text")]
        actions = tab.evaluate(NAMES)
        assert set(actions) <= set(texts)
        drawn = [path.get("d") for path in svg.iter("{http://www.w3.org/2000/svg}path")]
        assert len(drawn) > int(tab.inner_text("#nodes").split()[0])
        assert not any("NaN" in path for path in drawn)


def test_nothing_is_kept_from_before_the_first_decision(browser):
    with page_of(browser, live("grid:collect", calls=40)) as tab:
        paused_at(tab, 0)
        assert not tab.is_visible("#legend [data-mark=kept]")
        assert not tab.is_visible("#legend [data-mark=goal]")
        scrub_to(tab, 1)
        assert tab.is_visible("#legend [data-mark=kept]")


def test_decisions_scores_and_pauses_are_said(browser):
    with page_of(browser, live("grid:collect", calls=40)) as tab:
        assert tab.get_attribute("#said", "aria-live") == "polite"
        until(tab, f"{SAID}.startsWith('Decision')")
        tab.click("#play")
        until(tab, f"{SAID}.startsWith('Paused at decision')")
        decision = int(tab.get_attribute("body", "data-decision"))
        tab.click("#step-decision")
        until_decision(tab, decision + 1)
        names = tab.evaluate(NAMES)
        chosen = tab.evaluate("document.querySelector('#actions tr.chosen').dataset.name")
        assert chosen in names
        said = f"Decision {decision + 1}: {chosen}. Score "
        until(tab, f"{SAID}.startsWith('{said}')")


@pytest.mark.parametrize("width", [390, 1024, 1440])
def test_a_nodes_details_do_not_hide_its_branch(browser, width):
    look = {"viewport": {"width": width, "height": 900}}
    with page_of(browser, live("breakout", calls=60), **look) as tab:
        paused_at(tab, 1)
        nodes = in_tree(tab, "tree.nodes.length")
        for node in range(0, nodes, nodes // 12):
            in_tree(tab, "tree.point(given)", node)
            until(tab, "document.querySelector('#tip:not([hidden]) .why') !== null")
            tip, box = tab.locator("#tip").bounding_box(), tab.locator("#tree").bounding_box()
            left, top = tip["x"] - box["x"], tip["y"] - box["y"]
            points = in_tree(tab, "tree.branchPoints(given)", node)
            assert len(points) > 1
            for x, y in points:
                assert not (left < x < left + tip["width"] and top < y < top + tip["height"])
            in_tree(tab, "tree.point(null)")
            until(tab, "document.getElementById('tip').hidden")


def test_details_that_are_taller_than_the_room_beside_a_branch_stand_above_the_tree(browser):
    env = gymnasium.make("CartPole-v1", render_mode="rgb_array")
    look = {"viewport": {"width": 1440, "height": 900}}
    opened = live_viewer(env, make_agent("value-iw", calls_per_action=30), port=0)
    with page_of(browser, opened, **look) as tab:
        paused_at(tab, 0)
        branch = in_tree(tab, "[...tree.branch]")
        assert len(branch) > 10
        in_tree(tab, "tree.point(given)", branch[4])
        until(tab, "document.querySelector('#tip:not([hidden]) .why') !== null")
        tip, box = tab.locator("#tip").bounding_box(), tab.locator("#tree").bounding_box()
        assert tip["y"] < box["y"]
        for node in branch:
            x, y = in_tree(tab, "tree.place(tree.nodes[given])", node)
            hidden_across = tip["x"] < box["x"] + x < tip["x"] + tip["width"]
            assert not (hidden_across and tip["y"] < box["y"] + y < tip["y"] + tip["height"])


def test_what_explore_goes_for_is_shown(browser):
    agent = make_agent("patch-iw", calls_per_action=40, explore=True, look_further=0.5)
    with page_of(browser, live_viewer("grid:key-door", agent, port=0)) as tab:
        paused_at(tab, 2)
        until_in_tree = time.monotonic() + PATIENCE
        while in_tree(tab, "tree.goal.length") < 2:
            assert time.monotonic() < until_in_tree
        assert tab.is_visible("#explored")
        ahead = in_tree(tab, "tree.goal.length") - 1
        assert tab.inner_text("#target-caption").startswith(f"target, {ahead} action")
        assert tab.inner_text("#explored-figures").startswith("3 screens")
        assert tab.is_visible("#legend [data-mark=goal]")
        for name in ("now", "target", "colours"):
            until(
                tab,
                f"(() => {{ const it = document.getElementById('explored-{name}'); return new Set("
                "it.getContext('2d').getImageData(0, 0, it.width, it.height).data).size > 2; })()",
            )


def test_planners_without_rollouts_go_node_by_node(browser):
    opened = live_viewer(
        "grid:collect", make_agent("2bfs", features="patches", calls_per_action=40), port=0
    )
    with page_of(browser, opened) as tab:
        paused_at(tab, 0)
        assert tab.inner_text("#step-rollout") == "One node"
        assert tab.inner_text("#steps-name") == "nodes"
        assert "put back" in tab.inner_text("#legend")
