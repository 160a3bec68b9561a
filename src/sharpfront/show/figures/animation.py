"""Films of a solution in time."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from matplotlib.animation import FFMpegWriter
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from sharpfront.arrays import FloatArray
from sharpfront.checks import file_path, finite, one_of, solution_like, whole
from sharpfront.errors import ProblemError
from sharpfront.files import replacing
from sharpfront.show.data.kernels import section
from sharpfront.show.figures.panels import Wish
from sharpfront.show.figures.scenes import Scene, curve_scene, map_scene

Moments = Literal["even", "steps"]
# Of a film of which nothing is said.
_FPS, _SECONDS = 15.0, 4.0
# A GIF counts hundredths of a second, and viewers slow down frames of less than two.
_FASTEST_GIF = 50.0
_USUAL = {"fps": _FPS, "seconds": _SECONDS, "frames": _FPS * _SECONDS}
_COLOURS = 256
# Colours brighter than this are the paper's.
_PAPER = 248


@dataclass(frozen=True)
class Timing:
    """How many frames a film has, and how many are shown in a second."""

    frames: int
    fps: float


def animate(
    solution: Any,
    path: str | Path,
    *,
    fps: float | None = None,
    seconds: float | None = None,
    frames: int | None = None,
    unknown: str | None = None,
    moments: Moments = "even",
    resolution: int = 160,
    kernels: bool = False,
    on_frame: Callable[[int, int], None] | None = None,
    **where: tuple[float, float],
) -> Path:
    """Write a film of a solution in time: a GIF, or an MP4 where ffmpeg is installed.

    A curve on the line, a colour map in the plane. With ``kernels=True`` the kernels and the
    mixture's components move with it: on the line as ticks and bells under the curve, in the
    plane as dots and ellipses on the map.

    Parameters
    ----------
    solution
        A solution in time.
    path
        Ends in ``.gif`` or ``.mp4``. The file is there only when it is whole.
    fps, seconds, frames
        Frames per second, length and number of frames: two of them give the third, and what is
        left open is 15 per second for 4 seconds.
    unknown
        The one to draw; by default all on the line, the first in the plane.
    moments
        ``"even"`` moments, or as the ``"steps"`` went: slower where steps were short.
    resolution
        Dots along the longer side of a colour map.
    kernels
        Whether to draw kernels and components too.
    on_frame
        Called with the number of frames done and of all.
    **where
        Ranges (low, high) for coordinates by name; ``t=(0, 0.1)`` is a part of the time.

    Returns
    -------
    Path
        The file.
    """
    solution_like(solution)
    target = file_path(path, "path")
    whole(resolution, "resolution", 2, "resolution=160")
    timing = timing_of(fps, seconds, frames)
    write = _film_writer(target, timing)
    wish = replace(_wish(solution, unknown, resolution, where), kernels=kernels)
    times = film_times(solution, wish.where, timing.frames, moments)
    make = curve_scene if solution.domain.space.dimension == 1 else map_scene
    scene = make(wish, times)
    with replacing(target) as temporary:
        write(temporary, scene, _frames(scene, on_frame), timing)
    return target


def timing_of(fps: float | None, seconds: float | None, frames: int | None) -> Timing:
    """Return frames and frames per second from any of the three."""
    for name, value in (("fps", fps), ("seconds", seconds), ("frames", frames)):
        if value is not None:
            expected, good = "a number greater than zero", lambda n: n > 0
            finite(value, name, expected, f"{name}={_USUAL[name]:g}", within=good)
    if fps is not None and seconds is not None and frames is not None:
        raise ProblemError(
            f"fps={fps:g}, seconds={seconds:g} and frames={frames} are one too many: give two."
        )
    if frames is None:
        length = _SECONDS if seconds is None else seconds
        return Timing(max(2, round(length * (fps or _FPS))), fps or _FPS)
    if frames != int(frames) or frames < 2:
        raise ProblemError(f"A film has two frames at least, got frames={frames!r}.")
    return Timing(int(frames), frames / seconds if seconds is not None else fps or _FPS)


def film_times(solution: Any, where: dict[str, Any], count: int, moments: str) -> FloatArray:
    """Return the moments of the frames, (count,), increasing."""
    one_of(moments, "moments", ("even", "steps"))
    names = solution.approximation.coordinates
    start, stop = section(solution.domain, names, where).window[:, -1]
    if moments == "even":
        return np.linspace(start, stop, count)
    ends = np.array([step.time for step in solution.history])
    ends = np.concatenate([[start], ends[(ends > start) & (ends < stop)], [stop]])
    found = np.interp(np.linspace(0, len(ends) - 1, count), np.arange(len(ends)), ends)
    return np.asarray(found)


def _wish(solution: Any, unknown: str | None, resolution: int, where: dict[str, Any]) -> Wish:
    if not solution.in_time:
        raise ProblemError("Only a solution in time can be animated; draw this with plot().")
    if unknown is not None and unknown not in solution.unknowns:
        raise ProblemError(
            f"There is no unknown {unknown!r}; they are {', '.join(solution.unknowns)}."
        )
    single = [name for name, value in where.items() if np.ndim(value) != 1]
    if single:
        raise ProblemError(
            f"animate() takes ranges, {single[0]}=(low, high); got {where[single[0]]!r}."
        )
    if solution.domain.space.dimension > 2:
        raise ProblemError("Films are made on the line and in the plane; plot() draws cuts.")
    unknowns = (unknown,) if unknown else tuple(solution.unknowns)
    return Wish(solution, unknowns, where, resolution)


def _frames(scene: Scene, on_frame: Callable[[int, int], None] | None) -> Iterator[None]:
    """Show one frame after the other."""
    for i in range(scene.count):
        scene.show(i)
        if i == 0:
            # The layout is found once, so that nothing moves but what should.
            scene.figure.draw_without_rendering()
            scene.figure.set_layout_engine("none")
        yield
        if on_frame is not None:
            on_frame(i + 1, scene.count)


Write = Callable[[Path, Scene, Iterator[None], Timing], None]


def _film_writer(path: Path, timing: Timing) -> Write:
    kind = path.suffix.lower()
    if kind == ".gif":
        if timing.fps > _FASTEST_GIF:
            raise ProblemError(
                f"A GIF shows {_FASTEST_GIF:g} frames per second at most, got {timing.fps:g}. "
                "Ask for fewer, or write an MP4."
            )
        return _write_gif
    if kind == ".mp4":
        if not FFMpegWriter.isAvailable():
            raise ProblemError(
                f"Writing {path.name} needs the program ffmpeg, which was not found. Install it "
                "(apt install ffmpeg, brew install ffmpeg, conda install ffmpeg), or write a .gif."
            )
        return _write_mp4
    raise ProblemError(f"A film's name ends in .gif or .mp4, got {path.name!r}.")


def _write_gif(path: Path, scene: Scene, shown: Iterator[None], timing: Timing) -> None:
    images = [Image.fromarray(pixels) for pixels in _pixels(scene, shown)]
    palette = _palette(images[:: max(1, len(images) // 6)])
    # One palette and no dithering: what stands still is the same in all frames, and small.
    framed = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    ends = np.rint(100 * np.arange(1, len(framed) + 1) / timing.fps).astype(int)
    durations = [int(10 * d) for d in np.diff(ends, prepend=0)]
    framed[0].save(path, "GIF", save_all=True, append_images=framed[1:], duration=durations, loop=0)


def _pixels(scene: Scene, shown: Iterator[None]) -> Iterator[Any]:
    """Yield the frames, (height, width, 3): what moves is drawn on a copy of what does not."""
    canvas: Any = FigureCanvasAgg(scene.figure)
    behind = None
    for _ in shown:
        if behind is None:
            canvas.draw()
            behind = canvas.copy_from_bbox(scene.figure.bbox)
        canvas.restore_region(behind)
        for artist in sorted(scene.moving, key=lambda one: one.get_zorder()):
            scene.figure.draw_artist(artist)
        yield np.asarray(canvas.buffer_rgba())[:, :, :3].copy()


def _palette(images: list[Any]) -> Any:
    """Return colours that suit all of some frames, white among them."""
    both = Image.new("RGB", (images[0].width, sum(image.height for image in images)))
    for i, image in enumerate(images):
        both.paste(image, (0, i * image.height))
    # Of maps, rare colours count as much as those of wide plains.
    palette = both.quantize(_COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    colours = np.array(palette.getpalette()).reshape(-1, 3)
    # The paper is to be as white as the page that the film is on.
    colours[colours.min(axis=1) >= _PAPER] = 255
    palette.putpalette(colours.ravel().tolist())
    return palette


def _write_mp4(path: Path, scene: Scene, shown: Iterator[None], timing: Timing) -> None:
    """Pass the frames to ffmpeg, one after the other."""
    width, height = (int(pixels) for pixels in scene.figure.bbox.size)
    given = f"-f rawvideo -pix_fmt rgb24 -s {width}x{height} -r {timing.fps:.6f} -i -"
    # The format of pixels that players know.
    wanted = "-c:v h264 -pix_fmt yuv420p -movflags +faststart"
    command = [FFMpegWriter.bin_path(), "-y", "-loglevel", "error", *given.split()]
    with subprocess.Popen(
        [*command, *wanted.split(), str(path)], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        try:
            for pixels in _pixels(scene, shown):
                process.stdin.write(pixels.tobytes())
        except BrokenPipeError:
            # It has stopped, and says why.
            pass
        except BaseException:
            process.kill()
            raise
        _, words = process.communicate()
    if process.returncode:
        said = words.decode(errors="replace").strip()
        raise ProblemError(f"ffmpeg could not write {path.suffix} files: {said}. Write a .gif.")
