"""Pages in headless Chromium: they load offline, react, and fit on a phone and a desktop."""

import itertools
import json
import re
from dataclasses import replace

import pytest
from tests.show import solutions
from tests.show.chromium import Chromium, find_chromium

from sharpfront.show import solve_report

PATH = find_chromium()
pytestmark = pytest.mark.skipif(
    PATH is None, reason="there is no chromium on the path: apt-get install chromium"
)
WIDTHS = (390, 1280)


@pytest.fixture(scope="module")
def browser():
    browser = Chromium(PATH)
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    made = {}

    def page(name):
        if name not in made:
            made[name] = folder / f"{name}.html"
            exact = {"exact": solutions.exact_layer} if name == "layer" else {}
            text = solve_report(solutions.ALL[name](), title=name, **exact)
            made[name].write_text(text, encoding="utf-8")
        return made[name]

    return page


def state(browser):
    return json.loads(browser.run("JSON.stringify({...document.querySelector('#viewer').dataset})"))


def inked(browser, key):
    """Return a text that changes with what a canvas shows, an empty one for an empty canvas."""
    return browser.run(
        f"""(() => {{ const c = document.getElementById("{key}");
        const empty = Object.assign(document.createElement("canvas"),
                                    {{width: c.width, height: c.height}});
        const text = c.toDataURL();
        let sum = 7;
        for (let i = 0; i < text.length; i++) sum = (sum * 31 + text.charCodeAt(i)) | 0;
        return text === empty.toDataURL() ? "" : String(sum); }})()"""
    )


def middle(browser, key):
    """Return the middle of an element in the window, after it was scrolled to."""
    return json.loads(
        browser.run(
            f"""(() => {{ const e = document.getElementById("{key}");
            e.scrollIntoView({{behavior: "instant"}});
            const r = e.getBoundingClientRect();
            return JSON.stringify([r.left + r.width / 2, r.top + r.height / 2]); }})()"""
        )
    )


def number(words):
    """Return a number from the page's notation, 1.5×10⁻⁷."""
    head, _, power = words.partition("×10")
    return float(f"{head}e{power.translate(str.maketrans('⁻⁰¹²³⁴⁵⁶⁷⁸⁹', '-0123456789')) or 0}")


def change(browser, key, value, event="input"):
    browser.run(
        f"""(() => {{ const e = document.getElementById("{key}"); e.value = "{value}";
        e.dispatchEvent(new Event("{event}", {{bubbles: true}})); }})()"""
    )
    browser.settle()


def click(browser, key):
    browser.run(f"document.getElementById('{key}').click()")
    browser.settle()


def press(browser, key, code=None):
    for kind in ("keyDown", "keyUp"):
        browser.send(
            "Input.dispatchKeyEvent",
            type=kind,
            key=key,
            code=code or key,
            text=key if len(key) == 1 else "",
        )
    browser.settle()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", solutions.ALL)
def test_pages_load_offline_and_fit(browser, pages, name, width):
    browser.open(pages(name), width)
    assert browser.complaints() == []
    assert state(browser)["ready"] == "true"
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert inked(browser, "main")
    # No part sticks out of the page, save what scrolls by itself.
    outside = browser.run(
        """[...document.querySelectorAll("main *")].filter((e) =>
        !e.closest("pre, .table, .statement li, legend, .choice input")
        && e.getBoundingClientRect().right > innerWidth + 0.5)
        .map((e) => e.outerHTML.slice(0, 80))"""
    )
    assert outside == []


def test_the_slider_moves_the_kernels(browser, pages):
    browser.open(pages("shock"), 1280)
    click(browser, "show-kernels")
    last, picture = state(browser), inked(browser, "kernels")
    change(browser, "scrub", 0)
    first = state(browser)
    assert len(first["kernels"].split()) < len(last["kernels"].split())
    assert inked(browser, "kernels") != picture
    assert "Solve 1 of" in browser.run("document.getElementById('scrub-note').textContent")


def test_the_slider_works_from_the_keyboard_and_has_a_name(browser, pages):
    browser.open(pages("line_in_time"), 390)
    before = state(browser)
    browser.run("document.getElementById('scrub').focus()")
    press(browser, "ArrowLeft")
    after = state(browser)
    assert after["components"] != before["components"]
    assert after["kernels"] != before["kernels"]
    slider = "document.getElementById('scrub')"
    assert browser.run(f"{slider}.labels[0].textContent") == "Time"
    assert browser.run(f"{slider}.getAttribute('aria-valuetext')").startswith("t = 0.983")


def test_time_plays(browser, pages):
    browser.open(pages("line_in_time"), 1280)
    picture = inked(browser, "main")
    browser.run("document.getElementById('play').click()")
    browser.run("new Promise((r) => setTimeout(r, 400))")
    assert browser.run("document.getElementById('play').textContent") == "Pause"
    assert 0 < browser.run("Number(document.getElementById('scrub').value)") < 60
    assert inked(browser, "main") != picture
    browser.run("document.getElementById('play').click()")
    assert browser.run("document.getElementById('play').textContent") == "Play"


def test_time_in_the_plane_moves_the_map(browser, pages):
    browser.open(pages("plane_in_time"), 1280)
    before, picture = state(browser), inked(browser, "main")
    change(browser, "scrub", 5)
    assert state(browser)["components"] != before["components"]
    assert inked(browser, "main") != picture


def test_zooming_and_moving(browser, pages):
    browser.open(pages("layer"), 1280)
    whole = inked(browser, "main")
    browser.run("document.querySelector('[data-act=sharpest]').click()")
    browser.settle()
    near = inked(browser, "main")
    browser.run("document.getElementById('main').focus()")
    press(browser, "ArrowLeft")
    moved = inked(browser, "main")
    press(browser, "+")
    closer = inked(browser, "main")
    assert len({whole, near, moved, closer}) == 4
    press(browser, "0")
    assert inked(browser, "main") == whole


def test_values_are_read_under_the_pointer(browser, pages):
    browser.open(pages("layer"), 1280)
    x, y = middle(browser, "main")
    browser.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    browser.settle()
    words = browser.run("document.getElementById('main-read').textContent")
    place, value = re.fullmatch(r"x = ([\d.]+): u = (\S+)", words).groups()
    assert 0.4 < float(place) < 0.6
    assert abs(number(value) - solutions.exact_layer(float(place))) < 1e-6


def test_dragging_moves_a_zoomed_chart(browser, pages):
    browser.open(pages("layer"), 1280)
    browser.run("document.querySelector('[data-act=in]').click()")
    browser.settle()
    before = inked(browser, "main")
    x, y = middle(browser, "main")
    mouse = {"button": "left", "buttons": 1, "clickCount": 1}
    browser.send("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, **mouse)
    browser.send("Input.dispatchMouseEvent", type="mouseMoved", x=x - 150, y=y, **mouse)
    browser.send("Input.dispatchMouseEvent", type="mouseReleased", x=x - 150, y=y, **mouse)
    browser.settle()
    assert inked(browser, "main") != before


def test_quantities_unknowns_and_planes_are_chosen(browser, pages):
    browser.open(pages("layer"), 1280)
    seen = {inked(browser, "main")}
    for kind in ("residual", "error"):
        browser.run(f"document.querySelector('input[value={kind}]').click()")
        browser.settle()
        seen.add(inked(browser, "main"))
    assert len(seen) == 3
    browser.open(pages("pair"), 1280)
    before = inked(browser, "main")
    change(browser, "unknown", "v", "change")
    assert inked(browser, "main") != before
    browser.open(pages("cube"), 1280)
    before = inked(browser, "main")
    change(browser, "plane", 2, "change")
    assert inked(browser, "main") != before
    assert browser.complaints() == []


def test_every_axis_has_labels(browser, pages):
    # The words that a chart writes, seen by listening to the canvas.
    listen = """(() => { const draw = CanvasRenderingContext2D.prototype.fillText; window.said = {};
        CanvasRenderingContext2D.prototype.fillText = function (...a) {
          (window.said[this.canvas.id] ??= new Set()).add(a[0]); return draw.apply(this, a); };
        document.querySelector("input[value=residual]").click(); })()"""
    for name in ("layer", "cube", "plane"):
        browser.open(pages(name), 390)
        browser.run(listen)
        browser.settle()
        for canvas in ("main",) if name == "layer" else ("main", "cut-x", "cut-y"):
            said = browser.run(f"[...window.said['{canvas}']]")
            powers = [word for word in said if "10" in word and re.search("[⁰-⁹⁻¹²³]", word)]
            assert len(powers) >= 2, (name, canvas, said)
            assert not any("log10" in word for word in said)


def test_cuts_follow_their_sliders(browser, pages):
    browser.open(pages("plane"), 390)
    before = inked(browser, "cut-x")
    change(browser, "at-y", 40)
    assert inked(browser, "cut-x") != before
    assert browser.run("document.getElementById('cut-x-title').textContent") == "Along x at y = 0.1"


@pytest.mark.parametrize("name", ["plane", "pierced", "cube", "plane_in_time"])
def test_kernels_and_mixture_are_drawn_on_request(browser, pages, name):
    browser.open(pages(name), 1280)
    plain = inked(browser, "main")
    boxes = ("show-kernels", "show-mixture")
    assert not any(browser.run(f"document.getElementById('{box}').checked") for box in boxes)
    changed = []
    for box in boxes:
        click(browser, box)
        changed.append(inked(browser, "main") != plain)
        click(browser, box)
        assert inked(browser, "main") == plain
    assert any(changed)


@pytest.mark.parametrize("name", ["shock", "pierced"])
def test_the_slider_through_solves_comes_with_the_kernels(browser, pages, name):
    browser.open(pages(name), 1280)
    hidden = "[...document.querySelectorAll('[data-on-request]')].map((e) => e.offsetHeight)"
    assert not any(browser.run(hidden))
    click(browser, "show-kernels")
    assert all(browser.run(hidden))
    assert browser.run("document.getElementById('scrub').offsetHeight") > 0


def test_time_has_its_slider_always(browser, pages):
    browser.open(pages("burgers"), 1280)
    assert browser.run("document.getElementById('scrub').offsetHeight") > 0
    assert browser.run("document.getElementById('kernels').offsetHeight") == 0


def test_kernels_are_not_drawn_in_holes(browser, pages):
    browser.open(pages("pierced"), 1280)
    for box in ("show-kernels", "show-mixture"):
        click(browser, box)
    # Dots of the hole's own middle: nothing but the lines of the grid, as without kernels.
    middles = """(() => { const c = document.getElementById("main"), pen = c.getContext("2d");
        const box = [c.clientWidth, c.clientHeight];
        const d = pen.getImageData(0, 0, c.width, c.height).data, out = [];
        for (let i = 0; i < d.length; i += 4) out.push(d[i + 3] === 0 ? 0 : 1);
        return out.reduce((a, b) => a + b, 0); })()"""
    with_kernels = browser.run(middles)
    for box in ("show-kernels", "show-mixture"):
        click(browser, box)
    # Kernels change colours where the map is, and add no dot where it is not.
    assert with_kernels == browser.run(middles)


def test_cuts_are_marked_beside_the_map(browser, pages):
    browser.open(pages("plane"), 1280)
    # The middle of the map, where both cuts cross, has the colour of its neighbours.
    dots = """(() => { const c = document.getElementById("main"), pen = c.getContext("2d");
        const d = pen.getImageData(Math.round(0.2 * c.width), 0, 1, c.height).data, out = [];
        for (let i = 0; i < d.length; i += 4) out.push([d[i], d[i + 1], d[i + 2]]);
        return out.slice(Math.round(0.2 * c.height), Math.round(0.8 * c.height)); })()"""
    column = browser.run(dots)
    pairs = itertools.pairwise(column)
    steps = [max(abs(a - b) for a, b in zip(p, q, strict=True)) for p, q in pairs]
    assert max(steps) < 12
    browser.run(
        "document.getElementById('at-y').dispatchEvent(new Event('pointerdown', {bubbles: true}))"
    )
    browser.settle()
    assert browser.run(dots) != column


def luminance(browser, selector, which="background-color"):
    words = browser.run(f"getComputedStyle(document.querySelector('{selector}'))['{which}']")
    r, g, b = (int(v) / 255 for v in re.findall(r"\d+", words)[:3])
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (r, g, b)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    return (max(a, b) + 0.05) / (min(a, b) + 0.05)


@pytest.fixture
def scheme(browser):
    def choose(name):
        features = [{"name": "prefers-color-scheme", "value": name}]
        browser.send("Emulation.setEmulatedMedia", features=features)

    yield choose
    choose("light")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["layer", "pierced", "burgers", "failed"])
def test_pages_are_dark_where_the_system_is(browser, pages, scheme, name, width):
    scheme("dark")
    browser.open(pages(name), width)
    assert browser.complaints() == []
    paper = luminance(browser, "body")
    assert paper < 0.02
    for selector in ("body", ".lead", ".figures dt", ".statement .place", ".read", "pre"):
        ground = paper if selector != "pre" else luminance(browser, "pre")
        assert contrast(ground, luminance(browser, selector, "color")) > 4.5, selector
    badge = luminance(browser, ".status"), luminance(browser, ".status", "color")
    assert contrast(*badge) > 4.5
    dark = inked(browser, "main")
    scheme("light")
    browser.settle()
    assert luminance(browser, "body") > 0.9
    # Charts are drawn again in the other colours.
    assert inked(browser, "main") != dark


def test_a_button_switches_between_light_and_dark(browser, pages, scheme):
    browser.open(pages("layer"), 1280)
    light = inked(browser, "main")
    assert browser.run("document.getElementById('theme').textContent") == "Dark"
    click(browser, "theme")
    assert luminance(browser, "body") < 0.02 and inked(browser, "main") != light
    click(browser, "theme")
    assert luminance(browser, "body") > 0.9 and inked(browser, "main") == light
    browser.send("Emulation.setEmulatedMedia", media="print")
    click(browser, "theme")
    assert luminance(browser, "body") > 0.9
    browser.send("Emulation.setEmulatedMedia", media="")


# Of everything that the chart draws: its frame, and where the tolerance's words are.
LISTEN = """(() => { const pen = CanvasRenderingContext2D.prototype, { rect, fillText } = pen;
    window.frame = window.words = null;
    pen.rect = function (...a) {
      if (this.canvas.id === "convergence") window.frame = a;
      return rect.apply(this, a); };
    pen.fillText = function (text, x, y) {
      const m = this.measureText(text);
      if (String(text).startsWith("tolerance")) window.words = [
        x - m.actualBoundingBoxLeft, y - m.actualBoundingBoxAscent,
        x + m.actualBoundingBoxRight, y + m.actualBoundingBoxDescent];
      return fillText.call(this, text, x, y); };
    document.dispatchEvent(new Event("theme")); })()"""


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("tol", [1e-12, 1e-5, 0.5, 30.0])
def test_the_label_of_the_tolerance_is_seen_as_a_whole(browser, tmp_path, tol, width):
    path = tmp_path / "page.html"
    path.write_text(solve_report(replace(solutions.shock(), tol=tol), title="page"))
    browser.open(path, width)
    browser.run(LISTEN)
    browser.settle()
    x, y, w, h = browser.run("window.frame")
    left, top, right, bottom = browser.run("window.words")
    assert x <= left and right <= x + w
    assert y <= top and bottom <= y + h


def test_a_layer_thinner_than_a_dot_is_seen(browser, pages):
    browser.open(pages("thin"), 1280)
    # The dots of one row, up to the white between map and colour bar.
    row = browser.run(
        """(() => { const c = document.getElementById("main");
        const y = Math.round(0.4 * c.height);
        const d = c.getContext("2d").getImageData(0, y, c.width, 1).data;
        const dots = [];
        for (let i = 0; i < c.width; i++) dots.push([...d.slice(4 * i, 4 * i + 4)]);
        const start = 60, end = dots.findIndex((p, i) => i > start && p[3] === 0);
        return dots.slice(start, end); })()"""
    )
    inside, wall = row[-8], row[-2]
    assert sum(abs(a - b) for a, b in zip(inside, wall, strict=True)) > 150
