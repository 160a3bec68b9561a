"""The explorer as it is served: what it answers, refuses, cancels and shows in a browser."""

import asyncio
import json
import multiprocessing
import os
import resource
import signal
import socket
import sys
import threading
import time
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.lazy import Lazy
from tests.show.chromium import Chromium, find_chromium
from typer.testing import CliRunner

from sharpfront.cli import app as command_line
from sharpfront.errors import ProblemError
from sharpfront.explorer.app import bound, explorer, server
from sharpfront.explorer.pool import Pool
from sharpfront.explorer.process import MOST_BYTES, answered

httpx = Lazy("httpx")
CHROMIUM = find_chromium()
LAYER = """title = "My layer"
equation = "-nu*u_xx + u_x = 0"

[domain]
interval = [0, 1]

[parameters]
nu = 1e-2  # width

[conditions]
left = "u = 0"
right = "u = 1"
"""
PULSE = """equation = "u_t - nu*u_xx = 0"
time = [0, 1]
[domain]
interval = [0, 1]
[parameters]
nu = 0.1
[conditions]
boundary = "u = 0"
[initial]
u = "sin(pi*x)"
[solve]
tol = 1e-4
"""
# Thousands of steps: over before it is cancelled on no machine.
LONG = PULSE.replace('= 0"', '= sin(90*t)"', 1).replace("[0, 1]", "[0, 40]", 1)


class Served:
    """A server in a thread, with the client of its own page."""

    def __init__(self, pool):
        self.pool, self.listener = pool, bound(0)
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.server = server(self.listener, pool)
        self.thread = threading.Thread(target=self.server.run, args=([self.listener],))
        self.thread.start()
        self.client = httpx.Client(base_url=self.url, timeout=120)

    def ask(self, action, **body):
        lines = self.client.post(f"/api/{action}", json=body).text.splitlines()
        return json.loads(lines[-1])

    def begun(self, **body):
        """Ask for a solve in a thread; returns once it is under way, with what it will say."""
        said, under_way = [], threading.Event()

        def listen():
            with self.client.stream("POST", "/api/solve", json=body) as answer:
                for line in answer.iter_lines():
                    said.append(json.loads(line))
                    under_way.set()

        thread = threading.Thread(target=listen)
        thread.start()
        assert under_way.wait(60)
        return thread, said

    def end(self):
        self.server.should_exit = True
        self.thread.join()
        self.client.close()
        self.listener.close()


@pytest.fixture(scope="module")
def served():
    served = Served(Pool(size=1, seconds=60, megabytes=1500))
    yield served
    processes = [worker.process for worker in served.pool.workers]
    served.end()
    assert processes and not any(process.is_alive() for process in processes)


@pytest.fixture(scope="module")
def guarded():
    """The application without workers, for what is refused before anyone works."""
    transport = httpx.ASGITransport(explorer(Pool(size=0), 8765))

    def send(method, path, **options):
        async def sent():
            base = "http://127.0.0.1:8765"
            async with httpx.AsyncClient(transport=transport, base_url=base) as client:
                return await client.request(method, path, **options)

        return asyncio.run(sent())

    return send


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example:8765"},
        {"host": "127.0.0.1"},
        {"host": "127.0.0.1:8766"},
        {"host": ""},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9000"},
        {"origin": "https://127.0.0.1:8765"},
    ],
)
@pytest.mark.parametrize(("method", "path"), [("GET", "/"), ("POST", "/api/solve")])
def test_other_hosts_and_origins_are_refused(guarded, headers, method, path):
    answer = guarded(method, path, headers={"content-type": "application/json"} | headers)
    assert answer.status_code == 403
    assert answer.text.strip()


@pytest.mark.parametrize(
    "headers",
    [{"content-type": "text/plain"}, {"sec-fetch-site": "cross-site"}, {"content-type": ""}],
)
def test_questions_that_a_foreign_form_could_send_are_refused(guarded, headers):
    sent = {"content-type": "application/json"} | headers
    assert guarded("POST", "/api/solve", content=b"{}", headers=sent).status_code == 403


def test_the_page_may_fetch_from_its_own_server_only(guarded):
    for path in ("/", "/static/explorer.js", "/static/none.js", "/api/start"):
        policy = guarded("GET", path).headers["content-security-policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
    for name in ("report.css", "explorer.css", "viewer.js", "theme.js", "explorer.js"):
        answer = guarded("GET", f"/static/{name}")
        assert answer.status_code == 200 and len(answer.text) > 300
        assert f"/static/{name}" in guarded("GET", "/").text
    assert guarded("GET", "/static/..%2fapp.py").status_code == 404
    assert "http://" not in guarded("GET", "/static/explorer.js").text.replace(
        "http://www.w3.org", ""
    )


@pytest.mark.parametrize(
    ("body", "status", "word"),
    [
        (b"no JSON", 400, "JSON"),
        (b"[1, 2]", 400, "object"),
        (b'{"tol": "small"}', 400, "tol"),
        (b'{"tol": 2}', 400, "tol"),
        (b'{"view": "<script>"}', 400, "view"),
        (b'{"code": "print()"}', 400, "code"),
        (b'{"text": "' + b"x" * MOST_BYTES + b'"}', 413, "256 kB"),
    ],
)
def test_malformed_questions_are_refused_with_words(guarded, body, status, word):
    headers = {"content-type": "application/json"}
    answer = guarded("POST", "/api/solve", content=body, headers=headers)
    assert answer.status_code == status and word in answer.json()["error"]


def test_what_there_is_not(guarded):
    headers = {"content-type": "application/json"}
    assert guarded("POST", "/api/eval", content=b"{}", headers=headers).status_code == 404
    assert guarded("GET", "/api/solve").status_code == 405


def test_the_catalogue_and_a_problem_of_it(served):
    problems = {p["name"]: p for p in served.ask("catalog")["answer"]["problems"]}
    assert len(problems) > 50 and problems["burgers"]["dimension"] == "1 + t"
    facts = served.ask("read", name="spike")["answer"]
    assert set(facts["parameters"]) == {"nu", "s"} and "<math>" in facts["problem"]
    # One that no file can state has its parameter all the same.
    assert len(served.ask("read", name="hump")["answer"]["parameters"]) == 1


@pytest.mark.parametrize("nu", [0.3, 2e-4])
def test_a_solution_with_its_pictures_and_its_exports(served, nu):
    answer = served.ask("solve", text=LAYER, parameters={"nu": nu}, tol=1e-7)["answer"]
    assert answer["data"]["kind"] == "line" and answer["tol"] == 1e-7
    assert "Converged" in answer["markup"]["verdict"] and "canvas" in answer["markup"]["viewer"]
    assert answer["seconds"]["solve"] > 0
    stated = tomllib.loads(answer["file"])
    assert stated == tomllib.loads(LAYER) | {"parameters": {"nu": nu}, "solve": {"tol": 1e-7}}
    assert "# width" in answer["file"]
    names = {}
    exec(compile(answer["python"], "again.py", "exec"), names)
    assert names["solution"].converged and abs(names["solution"](1 - nu) - 0.37) < 0.2
    page = served.ask("report", text=LAYER, parameters={"nu": nu}, tol=1e-7)["answer"]["page"]
    assert page.startswith("<!DOCTYPE html>") and "My layer" in page and f"{nu:g}" in page


@pytest.mark.parametrize(
    ("text", "words", "line"),
    [
        (LAYER.replace("u_xx +", "__import__('os').system('true') +"), "__import__", 2),
        (LAYER.replace('"u = 0"', "\"exec('1') = u\""), "exec", 11),
        (LAYER.replace("[0, 1]", "[0, "), "TOML", 7),
        (LAYER.replace("nu = 1e-2", "mu = 1e-2"), "nu", 2),
        (LAYER.replace("interval = [0, 1]", 'solid = "/etc/passwd"'), "No files are read", 5),
        ("x = " + "[" * 5000, "nested", None),
        ("", "equation", 1),
        ("\0\ud7ff", "TOML", 1),
    ],
)
def test_bad_texts_come_back_with_their_places(served, text, words, line):
    for action in ("read", "solve"):
        said = served.ask(action, text=text)
        assert words in said["error"]
        assert line is None or line in [m["line"] for m in said["mistakes"]]
    assert "answer" in served.ask("read", text=LAYER)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "Name a problem"),
        ({"name": "no-such"}, "no-such"),
        ({"name": "spike", "parameters": {"mu": 1.0}}, "mu"),
        ({"name": "spike", "parameters": {"nu": "__import__('os')"}}, "__import__"),
        ({"name": "hump", "parameters": {"other": 1.0}}, "other"),
        ({"text": LAYER.replace("-nu*u_xx", "-nu*u_xx + log(x - 2)*u")}, "finite"),
    ],
)
def test_questions_that_make_no_sense_come_back_with_words(served, body, words):
    assert words in served.ask("solve", **body)["error"]


def test_a_newer_question_of_a_view_cancels_the_older_one(served):
    (worker,) = served.pool.workers
    thread, said = served.begun(view="a", text=LONG)
    assert "answer" in served.ask("solve", view="a", text=LAYER)
    thread.join(30)
    assert said[-1] == {"stale": True} and "progress" in said[0]
    # It ended at its next step, and its process goes on.
    assert served.pool.workers == {worker} and worker.process.is_alive()


def test_a_page_that_goes_away_leaves_no_solve_behind(served):
    with served.client.stream("POST", "/api/solve", json={"view": "a", "text": LONG}) as answer:
        next(answer.iter_lines())
    assert "answer" in served.ask("solve", view="b", text=LAYER)


def test_a_solve_that_takes_too_long_is_ended_with_words(served, monkeypatch):
    monkeypatch.setattr(served.pool, "seconds", 0.7)
    said = served.ask("solve", text=LONG)
    assert "0.7 s" in said["error"] and "--seconds" in said["error"]
    monkeypatch.undo()
    assert "answer" in served.ask("solve", text=LAYER)


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="limits are seen on Linux only")
def test_memory_is_limited(served):
    (worker,) = served.pool.workers
    served.ask("read", text=LAYER)
    pid = worker.process.pid
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[0])
    limit = resource.prlimit(pid, resource.RLIMIT_AS)[0]
    assert 1000 < (limit - pages * resource.getpagesize()) / 2**20 <= 1500
    # No room at all: the answer says so, whether the process survives that or not.
    resource.prlimit(pid, resource.RLIMIT_AS, (pages * resource.getpagesize(), limit))
    said = served.ask("solve", name="wavy-front")
    assert "memory" in said["error"] and "--memory 3000" in said["error"]
    if worker.process.is_alive():
        resource.prlimit(pid, resource.RLIMIT_AS, (limit, limit))
    assert "answer" in served.ask("solve", text=LAYER)


@pytest.mark.parametrize(
    ("error", "words"),
    [(MemoryError(), "--memory 600"), (RuntimeError("odd"), "RuntimeError: odd")],
)
def test_no_exception_ends_a_worker(error, words):
    class Failing:
        def answer(self, job, tell):
            raise error

        def forget(self):
            pass

    assert words in json.loads(answered(Failing(), {}, lambda _: None, 300))["error"]


def test_a_worker_that_ended_while_idle_is_replaced_before_it_is_asked(monkeypatch):
    class Hired:
        def __init__(self, alive):
            self.process, self.busy = SimpleNamespace(is_alive=lambda: alive), False

        async def ready(self):
            assert self.process.is_alive()

        async def ask(self, job):
            yield b"answered"

    async def lines():
        pool, hired = Pool(size=1), iter((Hired(False), Hired(True)))
        monkeypatch.setattr(pool, "_hired", lambda: next(hired))
        pool.start()
        return [line async for line in pool.lines("a", {})]

    assert asyncio.run(lines()) == [b"answered"]


def test_a_port_in_use_is_said():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ProblemError, match=f"Port {port}.*--port"):
            bound(port)
        result = CliRunner().invoke(command_line, ["explore", "--port", str(port), "--no-browser"])
        assert result.exit_code == 2 and str(port) in result.stderr


def test_without_the_extra_the_command_says_what_to_install(monkeypatch):
    for module in [m for m in sys.modules if m.startswith("sharpfront.explorer")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    result = CliRunner().invoke(command_line, ["explore"])
    assert result.exit_code == 2 and "pip install 'sharpfront[web]'" in result.stderr


def test_a_file_that_is_not_there(tmp_path):
    result = CliRunner().invoke(command_line, ["explore", str(tmp_path / "none.toml")])
    assert result.exit_code == 2 and "Cannot read" in result.stderr


def test_an_interrupt_ends_the_command_with_its_workers(tmp_path, capfd):
    file = tmp_path / "layer.toml"
    file.write_text(LAYER)
    with bound(0) as free:
        port = free.getsockname()[1]
    before, seen = set(multiprocessing.active_children()), {}

    def interrupt():
        try:
            transport = httpx.HTTPTransport(retries=20)
            with httpx.Client(transport=transport, timeout=60) as client:
                seen["start"] = client.get(f"http://127.0.0.1:{port}/api/start").json()
            seen["workers"] = set(multiprocessing.active_children()) - before
            # A terminal interrupts the whole group.
            for worker in seen["workers"]:
                os.kill(worker.pid, signal.SIGINT)
        finally:
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    arguments = ["explore", str(file), "--no-browser", "--port", str(port), "--seconds", "7"]
    result = CliRunner().invoke(command_line, arguments)
    thread.join()
    assert result.exit_code == 0 and f"http://127.0.0.1:{port}/" in result.output
    assert seen["start"] == {"text": LAYER, "seconds": 7.0, "memory": 2000}
    assert len(seen["workers"]) == 2 and not any(w.is_alive() for w in seen["workers"])
    assert capfd.readouterr() == ("", "")


KEYS = {
    "Tab": 9,
    "Enter": 13,
    " ": 32,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
}


class Reader:
    """Someone with a keyboard alone."""

    def __init__(self, browser, served):
        self.browser, self.served = browser, served

    def open(self, name, width):
        self.browser.open("about:blank", width)
        self.browser.open(f"{self.served.url}/#{name}", width, 800)
        self.wait("!document.querySelector('.view').shadowRoot.querySelector('.viewer')", False)
        self.settled()

    def until(self, seen):
        for _ in range(1200):
            if seen():
                return
            time.sleep(0.05)
        raise AssertionError("what is waited for does not happen")

    def wait(self, code, wanted=True):
        self.until(lambda: self.browser.run(f"Boolean({code})") is wanted)

    def solve(self, text):
        self.browser.run(
            f"""document.getElementById("text").value = {json.dumps(text)};
            document.getElementById("use-text").click()"""
        )

    def settled(self):
        self.wait("document.querySelector('[aria-busy=true], .old')", False)
        self.browser.settle()

    def press(self, key, count=1, modifiers=0, **options):
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        words = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS.get(key, 0)}
        for _ in range(count):
            for kind in ("keyDown" if text else "rawKeyDown", "keyUp"):
                typed = {"text": text} if kind == "keyDown" and not modifiers else {}
                self.browser.send(
                    "Input.dispatchKeyEvent",
                    type=kind,
                    modifiers=modifiers,
                    **words,
                    **typed,
                    **options,
                )

    def focus(self):
        """Return the words and the kind of what has the focus, within a view as well."""
        return self.browser.run(
            """(() => { let e = document.activeElement;
            while (e.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;
            const label = e.getAttribute("aria-label") ?? e.labels?.[0]?.textContent;
            const words = label ?? e.textContent;
            const seen = getComputedStyle(e).outlineStyle !== "none"
              || getComputedStyle(e.nextElementSibling ?? e).outlineStyle !== "none";
            return [words.trim().split("\\n")[0], e.type ?? e.tagName.toLowerCase(), seen]; })()"""
        )

    def tab_to(self, words, kind=None):
        """Press Tab until something has the focus; every place on the way shows that it has it."""
        for _ in range(80):
            self.press("Tab")
            found, found_kind, seen = self.focus()
            assert seen, f"{found!r} ({found_kind}) does not show the focus"
            if found.startswith(words) and kind in (None, found_kind):
                return
        raise AssertionError(f"Tab does not lead to {words!r}")

    def values(self, key="a"):
        """Return what is drawn of the solution."""
        return self.browser.run(
            f"""(() => {{ const v = document.querySelectorAll(".view")["ab".indexOf("{key}")];
            return v.shadowRoot.getElementById("main").toDataURL(); }})()"""
        )

    def words(self, selector):
        return self.browser.run(f"document.querySelector('{selector}').textContent")


@pytest.fixture(scope="module")
def reader(served):
    if CHROMIUM is None:
        pytest.skip("there is no chromium on the path: apt-get install chromium")
    browser = Chromium(CHROMIUM)
    yield Reader(browser, served)
    browser.close()


@pytest.mark.parametrize("width", [375, 1280])
def test_a_problem_is_explored_with_the_keyboard_alone(reader, width):
    reader.open("turning-point", width)
    before = reader.values()
    reader.tab_to("From the catalogue")
    reader.press("ArrowDown")
    reader.wait("document.querySelector('.said').textContent.includes('on (0, 1)')")
    reader.wait("location.hash === '#twin-layer'")
    reader.settled()
    chosen = reader.values()
    assert chosen != before
    reader.tab_to("Compare two settings")
    reader.press("Enter")
    reader.settled()
    assert reader.focus()[0].startswith("nu")
    beside = reader.values()
    reader.tab_to("nu", "range")
    reader.press("ArrowRight", 60)
    reader.settled()
    moved = reader.values("b")
    assert reader.values() == beside != moved
    # What is shown of one is shown of both.
    reader.tab_to("Solution", "radio")
    reader.press("ArrowRight")
    reader.browser.settle()
    assert reader.values() != beside and reader.values("b") != moved
    fits = "document.documentElement.scrollWidth"
    assert reader.browser.run(fits) <= width
    assert reader.browser.complaints() == []


def test_a_text_is_typed_corrected_solved_and_taken_away(reader, tmp_path):
    reader.open("single-layer", 375)
    reader.tab_to("Problem file")
    reader.press("Enter")
    reader.tab_to("A problem file")
    reader.press("a", modifiers=2, commands=["selectAll"])
    reader.browser.send("Input.insertText", text=LAYER.replace("nu*u_xx", "mu*u_xx"))
    reader.press("Enter", modifiers=2)
    reader.wait("document.getElementById('mistakes').hidden", False)
    assert "'mu' is not known" in reader.words("#mistakes")
    reader.tab_to("Go to line 2")
    reader.press("Enter")
    assert reader.focus()[1] == "textarea"
    reader.browser.send("Input.insertText", text='equation = "-nu*u_xx + u_x = 0"')
    reader.press("Enter", modifiers=2)
    reader.wait("document.getElementById('mistakes').hidden")
    reader.wait("document.querySelector('.view').shadowRoot.querySelector('.status')")
    assert reader.words(".said") == "My layer"
    folder = {"behavior": "allow", "downloadPath": str(tmp_path)}
    reader.browser.send("Browser.setDownloadBehavior", **folder)
    for button in ("Problem file", "Python", "HTML report"):
        reader.tab_to(button, "button")
        reader.press("Enter")
        reader.settled()
    wanted = {"problem.toml": LAYER, "problem.py": "sf.solve(", "problem.html": "<!DOCTYPE html>"}
    for name, words in wanted.items():
        reader.until(lambda name=name: (tmp_path / name).exists())
        assert words in (tmp_path / name).read_text()


def test_a_solve_is_stopped(reader):
    reader.open("single-layer", 375)
    reader.solve(LONG)
    reader.wait("document.querySelector('.progress').textContent.includes('t =')")
    reader.tab_to("Stop")
    reader.press("Enter")
    assert reader.words(".progress").startswith("Stopped")
    reader.solve(LAYER)
    reader.wait("document.querySelector('.view').shadowRoot.querySelector('.status')")


def test_time_is_scrubbed_and_stays_when_a_parameter_moves(reader):
    reader.open("single-layer", 375)
    reader.solve(PULSE)
    reader.wait("document.querySelector('.view').shadowRoot.getElementById('scrub')")
    reader.settled()
    reader.tab_to("Time")
    whole = reader.values()
    reader.press("ArrowLeft", 30)
    reader.browser.settle()
    assert reader.values() != whole
    slider = "document.querySelector('.view').shadowRoot.getElementById('scrub').value"
    assert reader.browser.run(slider) == "30"
    reader.browser.run("document.getElementById('a-tol-range').focus()")
    reader.press("ArrowRight", 4)
    reader.settled()
    assert reader.browser.run(slider) == "30"


def test_a_process_that_does_not_listen_is_replaced(served):
    (worker,) = served.pool.workers
    thread, said = served.begun(view="a", text=LONG)
    os.kill(worker.process.pid, signal.SIGSTOP)
    with pytest.raises(httpx.ReadTimeout):
        served.client.post("/api/solve", json={"view": "a", "text": LAYER}, timeout=0.2)
    thread.join(30)
    assert said[-1] == {"stale": True}
    # Its successor loads the library, and would answer.
    for _ in range(3000):
        if served.pool.workers - {worker}:
            break
        time.sleep(0.01)
    assert served.pool.workers - {worker} and not worker.process.is_alive()
