"""Compares screenshots of the main screens with the approved ones.

    APPROVE_SCREENSHOTS=1 python -m pytest tests/browser/test_screenshots.py

takes them again: look at `git diff` before committing. Code is drawn in a font of the system, so
another machine may differ a little, within the tolerance.
"""

import base64
import os
import struct
import zlib
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

APPROVED = Path(__file__).parent / "approved"
IS_APPROVING = os.environ.get("APPROVE_SCREENSHOTS") == "1"
MAX_DIFFERENT = 0.005
"""The share of pixels that may differ."""

RICH = """## How a circle grows

The area of a circle grows with the **square** of its radius, so *twice* the radius is
`4` times the area:

$$
A = \\pi r^2
$$

| radius | area |
|---:|---:|
| 1 | 3.14 |
| 2 | 12.57 |

```python
def area(radius: float) -> float:
    \"\"\"Of a circle.\"\"\"
    return 3.14159 * radius**2  # close enough
```

1. Measure the radius $r$.
2. Multiply it by itself.
   - A [ruler](https://rulers.example.org/straight) will do.

> Measure twice, cut once.

- [x] done

![a circle](https://pictures.example.org/circle.png)
"""
"""An answer with every kind of Markdown."""

COMPARE = """
async ({ taken, approved, most }) => {
    const VISIBLE = 12;
    const read = async (png) => {
        const picture = await createImageBitmap(await (await fetch(png)).blob());
        const canvas = new OffscreenCanvas(picture.width, picture.height);
        const context = canvas.getContext('2d');
        context.drawImage(picture, 0, 0);
        return context.getImageData(0, 0, canvas.width, canvas.height);
    };
    // Reduces the picture to its 256 commonest colours.
    const draw = ({ data, width, height }) => {
        const colours = Uint32Array.from({ length: width * height }, (_, i) =>
            (data[4 * i] << 16) | (data[4 * i + 1] << 8) | data[4 * i + 2]);
        const counts = new Map();
        for (const colour of colours) counts.set(colour, (counts.get(colour) ?? 0) + 1);
        const split = (colour) => [colour >> 16, (colour >> 8) & 255, colour & 255];
        const all = [...counts].sort((a, b) => b[1] - a[1]).map(([colour]) => colour);
        const palette = all.slice(0, 256).map(split);
        const far = (one, other) => one.reduce((sum, part, i) => sum + (part - other[i]) ** 2, 0);
        const nearest = (colour) => palette.reduce((best, shade, i) =>
            far(shade, colour) < far(palette[best], colour) ? i : best, 0);
        const numbers = new Map(all.map((colour, i) =>
            [colour, i < 256 ? i : nearest(split(colour))]));
        const pixels = Uint8Array.from(colours, (colour) => numbers.get(colour));
        return { width, height, palette: palette.flat(), pixels: pixels.toBase64() };
    };
    const now = await read(taken);
    const before = approved === null ? null : await read(approved);
    if (before === null || before.width !== now.width || before.height !== now.height)
        return { share: 1, now: draw(now), difference: null };
    const difference = new ImageData(now.width, now.height);
    let numOff = 0;
    for (let at = 0; at < now.data.length; at += 4) {
        const isOff = [0, 1, 2].some((i) =>
            Math.abs(now.data[at + i] - before.data[at + i]) > VISIBLE);
        numOff += isOff;
        const pale = (i) => 255 - (255 - now.data[at + i]) / 4;
        difference.data.set(isOff ? [220, 0, 0, 255] : [pale(0), pale(1), pale(2), 255], at);
    }
    const share = numOff / (now.width * now.height);
    return share <= most ? { share } : { share, now: draw(now), difference: draw(difference) };
}
"""


class Album:
    """Compares screenshots with the approved ones. Writes those that differ to `folder`."""

    def __init__(self, page: Page, folder: Path) -> None:
        self._page = page
        self._folder = folder
        self.differences: list[str] = []

    def compare(self, name: str, screenshot: bytes) -> None:
        path = APPROVED / f"{name}.png"
        approved = _data_url(path.read_bytes()) if path.is_file() else None
        found: Any = self._page.evaluate(
            COMPARE, {"taken": _data_url(screenshot), "approved": approved, "most": MAX_DIFFERENT}
        )
        if found["share"] <= MAX_DIFFERENT:
            return
        if IS_APPROVING:
            APPROVED.mkdir(exist_ok=True)
            path.write_bytes(_png(**found["now"]))
        else:
            self._report(name, found)

    def _report(self, name: str, found: dict[str, Any]) -> None:
        new = self._folder / f"{name}.png"
        new.write_bytes(_png(**found["now"]))
        if found["difference"] is not None:
            new.with_suffix(".difference.png").write_bytes(_png(**found["difference"]))
        self.differences.append(
            f"{name}: {found['share']:.1%} differs, see {new} and its difference. "
            "If that is intended, run again with APPROVE_SCREENSHOTS=1."
        )


def _data_url(png: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


def _png(width: int, height: int, palette: list[int], pixels: str) -> bytes:
    """Encodes a palette image, which is far smaller than the PNG of a browser."""
    numbers = base64.b64decode(pixels)
    rows = (b"\0" + numbers[width * y : width * (y + 1)] for y in range(height))
    chunks = {
        b"IHDR": struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0),
        b"PLTE": bytes(palette),
        b"IDAT": zlib.compress(b"".join(rows), 9),
        b"IEND": b"",
    }
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*chunk) for chunk in chunks.items())


def _chunk(kind: bytes, content: bytes) -> bytes:
    checked = kind + content
    return struct.pack(">I", len(content)) + checked + struct.pack(">I", zlib.crc32(checked))
