"""Make the pictures of the gallery by running the code of its pages, and small copies of them.

`python scripts/gallery.py` makes all of them, `python scripts/gallery.py fronts time` some.
"""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

import matplotlib.pyplot as plt
from figure_style import IMAGES
from matplotlib.figure import Figure
from PIL import Image

PAGES = IMAGES.parent / "gallery"
PICTURES = IMAGES / "gallery"
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
# Dots across a picture, and of its small copy.
WIDTH, SMALL = 1200, (480, 360)
# Which panel the small copy shows, where it is not the first.
PANELS = {"fits": 1, "layers": 1, "nonlinear": 1, "time": 1}


def main(names: list[str]) -> None:
    """Run the pages named, or all."""
    PICTURES.mkdir(exist_ok=True)
    for page in sorted(PAGES.glob("*.md")):
        if page.stem != "index" and (not names or page.stem in names):
            started = time.monotonic()
            draw(page)
            print(f"{page.stem}: {time.monotonic() - started:.1f} s", flush=True)


def draw(page: Path) -> None:
    """Run the code of a page and save the figure that it leaves."""
    plt.close("all")
    exec(compile("\n".join(BLOCK.findall(page.read_text())), str(page), "exec"), {})
    figure = plt.gcf()
    target = PICTURES / f"{page.stem}.png"
    figure.savefig(target, dpi=WIDTH / figure.get_size_inches()[0])
    with Image.open(target) as picture:
        flat = picture.convert("RGB")
    flat.save(target, optimize=True)
    panel(figure, PANELS.get(page.stem, 0), flat).save(
        PICTURES / f"{page.stem}-small.png", optimize=True
    )


def panel(figure: Figure, number: int, picture: Image.Image) -> Image.Image:
    """Return one panel of a figure as a small picture on white."""
    box = figure.axes[number].get_tightbbox().transformed(figure.dpi_scale_trans.inverted())
    scale = picture.width / figure.get_size_inches()[0]
    left, right = max(0, int(box.x0 * scale) - 4), int(box.x1 * scale) + 4
    part = picture.crop((left, 0, right, picture.height))
    part.thumbnail(SMALL)
    ground = Image.new("RGB", SMALL, "white")
    ground.paste(part, ((SMALL[0] - part.width) // 2, (SMALL[1] - part.height) // 2))
    return ground


if __name__ == "__main__":
    main(sys.argv[1:])
