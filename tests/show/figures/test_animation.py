"""Films of solutions in time: as many frames as asked for, whole or not there."""

import itertools
import stat
import time

import numpy as np
import pytest
from PIL import Image
from tests.lazy import Lazy
from tests.show.time_solutions import occurs_in_cells, pair, plane, shock

import sharpfront as sf
from sharpfront.errors import ProblemError
from sharpfront.show.data.placements import mixture_between
from sharpfront.show.figures.animation import film_times, timing_of
from sharpfront.show.figures.panels import Wish
from sharpfront.show.figures.scenes import curve_scene, map_scene, time_labels

mpl = Lazy("matplotlib")
plt = Lazy("matplotlib.pyplot")


def frames_of(path):
    with Image.open(path) as film:
        for i in range(film.n_frames):
            film.seek(i)
            yield np.asarray(film.convert("RGB")), film.info["duration"]


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ((None, None, None), (60, 15)),
        ((10, None, None), (40, 10)),
        ((10, 3, None), (30, 10)),
        ((None, 2, 40), (40, 20)),
        ((12, None, 7), (7, 12)),
    ],
)
def test_two_of_three_give_the_third(given, wanted):
    timing = timing_of(*given)
    assert (timing.frames, timing.fps) == wanted


@pytest.mark.parametrize("given", [(10, 3, 30), (0, None, None), (None, -1, None), (5, None, 1)])
def test_impossible_timings(given):
    with pytest.raises(ProblemError):
        timing_of(*given)


def test_moments_go_evenly_or_as_the_steps_went():
    even = film_times(shock(), {}, 11, "even")
    assert np.allclose(even, np.linspace(0, 1, 11))
    steps = [0.0, *(step.time for step in shock().history)]
    assert np.allclose(film_times(shock(), {}, len(steps), "steps"), steps)
    part = film_times(shock(), {"t": (0.2, 0.4)}, 7, "steps")
    assert (part[0], part[-1]) == (0.2, 0.4)
    assert np.all(np.diff(part) > 0)
    with pytest.raises(ProblemError, match="one of 'even', 'steps'"):
        film_times(shock(), {}, 5, "odd")


def test_a_gif_has_the_frames_asked_for_and_they_differ(tmp_path):
    plt.close("all")
    done = []
    path = sf.animate(
        shock(), tmp_path / "front.gif", frames=7, fps=12, on_frame=lambda *at: done.append(at)
    )
    frames = list(frames_of(path))
    assert len(frames) == 7
    assert all(np.any(a[0] != b[0]) for a, b in itertools.pairwise(frames))
    # Hundredths of a second add up to what was asked for.
    assert abs(sum(duration for _, duration in frames) - 7000 / 12) <= 5
    assert done == [(i, 7) for i in range(1, 8)]
    assert [p.name for p in tmp_path.iterdir()] == ["front.gif"]
    assert np.all(frames[0][0][:3] == 255)
    assert plt.get_fignums() == []


def test_the_curve_moves_to_the_right_in_the_pictures(tmp_path):
    path = shock().animate(tmp_path / "front.gif", frames=4)
    blue = np.array([0, 114, 178])
    ends = []
    for pixels, _ in frames_of(path):
        upper = pixels[30 : pixels.shape[0] // 2]
        near = np.abs(upper.astype(int) - blue).sum(axis=2) < 40
        ends.append(np.flatnonzero(near.any(axis=0)).max())
        # Nothing is left of the frames before: half-way up there is the front alone.
        steep = np.flatnonzero(near[len(near) // 2])
        assert 0 < len(steep) <= np.ptp(steep) + 1 < 20
    assert np.all(np.diff(ends) > 20)


def test_scenes_show_curves_kernels_and_bells_of_their_moment():
    times = np.array([0.0, 0.4, 1.0])
    scene = curve_scene(Wish(shock(), ("u",), {"x": (0.2, 0.8)}, 50, kernels=True), times)
    scene.show(1)
    axes = scene.figure.axes[0]
    x, u = axes.lines[0].get_data()
    assert np.allclose(u, shock()(x, 0.4))
    assert axes.get_title(loc="left") == "t = 0.40"
    low, high = axes.get_ylim()
    assert low < -0.3
    assert 1 < high < 1.2
    assert axes.get_xlim() == (0.2, 0.8)
    dashed = axes.lines[-1].get_data()
    assert np.allclose(dashed[1], shock()(dashed[0], 0.0))


def test_scenes_in_the_plane():
    times = np.array([0.0, 0.5, 0.75])
    scene = map_scene(Wish(plane(), ("u",), {}, 30, kernels=True), times)
    scene.show(2)
    axes = scene.figure.axes[0]
    image = axes.images[0]
    assert occurs_in_cells(image, lambda x, y: plane()(x, y, 0.75))
    assert not occurs_in_cells(image, lambda x, y: plane()(x, y, 0.5))
    ellipse = axes.collections[0].get_paths()[0].vertices
    wanted = mixture_between(plane().history, 0.75)
    assert np.allclose(wanted.means, [[0.6, 1.0]])
    assert np.allclose(ellipse[:-2].mean(axis=0), wanted.means[0], atol=1e-6)
    assert np.isclose(np.ptp(ellipse[:, 0]), 2 * 0.1, rtol=1e-3)


def test_a_film_in_the_plane(tmp_path):
    path = sf.animate(plane(), tmp_path / "map.gif", frames=3, resolution=20)
    assert len(list(frames_of(path))) == 3


def test_unknowns_of_a_system(tmp_path):
    def labels(kernels):
        wish = Wish(pair(), ("u", "v"), {}, 50, kernels=kernels)
        both = curve_scene(wish, np.array([0.0, 1.0]))
        return [t.get_text() for t in both.figure.legends[0].get_texts()]

    assert labels(False) == ["u", "v", "at t = 0"]
    assert labels(True) == ["u", "v", "kernels", "components of the mixture", "at t = 0"]
    with pytest.raises(ProblemError, match="no unknown 'w'"):
        pair().animate(tmp_path / "w.gif", unknown="w")


def test_labels_tell_moments_apart():
    labels = time_labels(np.array([0.0, 1e-5, 2.5e-5]))
    assert len(set(labels)) == 3
    assert labels[2] == "t = 0.000025"
    assert time_labels(np.array([0.0, 50.0, 100.0])) == ["t = 0", "t = 50", "t = 100"]


# Nothing is left behind


def fail(done, total):
    raise RuntimeError(f"stopped after {done} of {total}")


def test_what_fails_leaves_nothing_behind(tmp_path):
    with pytest.raises(RuntimeError, match="1 of 4"):
        shock().animate(tmp_path / "front.gif", frames=4, on_frame=fail)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("front.avi", {}, r"\.gif or \.mp4"),
        ("front", {}, r"\.gif or \.mp4"),
        ("front.gif", {"fps": 100}, "50 frames per second"),
        ("front.gif", {"t": 0.5}, "takes ranges"),
        ("front.gif", {"z": (0, 1)}, "not a coordinate"),
        ("front.gif", {"moments": "odd"}, "one of 'even', 'steps'"),
    ],
)
def test_impossible_films(tmp_path, name, options, words):
    with pytest.raises(ProblemError, match=words):
        shock().animate(tmp_path / name, **options)
    assert list(tmp_path.iterdir()) == []


def test_what_stands_still_is_not_animated(tmp_path):
    problem = sf.Problem(
        sf.Interval(0, 1), lambda u, x: u.dxx, left=lambda u, x: u, right=lambda u, x: u - 1
    )
    with pytest.raises(ProblemError, match="in time"):
        sf.animate(sf.solve(problem, tol=1e-2), tmp_path / "still.gif")


# MP4, with programs that stand in for ffmpeg


@pytest.fixture
def program(tmp_path):
    """Return a maker of programs that Matplotlib takes for ffmpeg."""

    def make(lines):
        path = tmp_path / "ffmpeg"
        path.write_text(f"#!/bin/sh\n{lines}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return mpl.rc_context({"animation.ffmpeg_path": str(path)})

    return make


def test_without_ffmpeg_an_error_says_what_to_install(tmp_path):
    missing = mpl.rc_context({"animation.ffmpeg_path": str(tmp_path / "none")})
    with missing, pytest.raises(ProblemError, match="apt install ffmpeg"):
        shock().animate(tmp_path / "front.mp4", frames=3)
    assert list(tmp_path.iterdir()) == []


def test_ffmpeg_is_given_every_frame(tmp_path, program):
    with program('for last; do :; done; echo "$@" > "$0.words"; cat > "$last"'):
        path = shock().animate(tmp_path / "front.mp4", frames=5, seconds=2)
    assert path.stat().st_size == 5 * 640 * 440 * 3
    words = (tmp_path / "ffmpeg.words").read_text()
    assert "-s 640x440 -r 2.5" in words


def test_what_ffmpeg_says_is_passed_on(tmp_path, program):
    fails = 'for last; do :; done; echo half > "$last"; echo no such codec >&2; exit 1'
    with program(fails), pytest.raises(ProblemError, match="no such codec"):
        shock().animate(tmp_path / "front.mp4", frames=3)
    assert [p.name for p in tmp_path.iterdir()] == ["ffmpeg"]


def test_ffmpeg_is_ended_when_a_film_is_given_up(tmp_path, program):
    started = time.perf_counter()
    with program("cat > /dev/null; sleep 8"), pytest.raises(RuntimeError, match="1 of 3"):
        shock().animate(tmp_path / "front.mp4", frames=3, on_frame=fail)
    assert time.perf_counter() - started < 6
    assert [p.name for p in tmp_path.iterdir()] == ["ffmpeg"]
