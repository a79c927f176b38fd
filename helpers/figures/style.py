"""One look for all figures: widths, fonts, a colour and a marker per vendor, and the same bytes on every run."""

from __future__ import annotations

import io
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

#: Vendors whose look never changes; all others follow in the order of `Style.vendors`, then by name.
VENDORS = ("claude", "gpt", "gemini", "llama", "qwen", "deepseek", "mistral")

# seaborn's "colorblind" palette in an order of our own; its grey is left to what belongs to no vendor.
COLOURS = ("#DE8F05", "#029E73", "#0173B2", "#CC78BC", "#CA9161", "#56B4E9", "#D55E00", "#FBAFE4", "#ECE133")
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "<", ">", "p")
GREY = "#949494"
INK = "#262626"

#: Without these entries a file holds its date or version and differs from run to run.
METADATA: dict[str, dict[str, None]] = {"png": {"Software": None}, "pdf": {"CreationDate": None}, "svg": {"Date": None}}

# Settings of a screen or a person, not of a picture.
_PERSONAL = ("backend", "interactive", "toolbar", "webagg", "tk.", "savefig.directory", "docstring", "keymap")


class Look(NamedTuple):
    """How a vendor is drawn, everywhere."""

    colour: str
    marker: str


@dataclass(frozen=True)
class Style:
    """Widths in inches and the font size in points of one kind of publication.

    `vendors` are names beyond VENDORS whose looks must be the same in figures that show different ones of them.
    """

    name: str
    column: float
    text: float
    size: float
    vendors: tuple[str, ...] = ()

    @property
    def rc(self) -> dict[str, Any]:
        """The matplotlib settings of this style; all sizes in points."""
        thin = self.size / 12
        return {
            "font.family": "DejaVu Sans",
            # A name with dollar signs is a name and no formula.
            "text.parse_math": False,
            "font.size": self.size,
            **{f"{what}.labelsize": self.size for what in ("axes", "xtick", "ytick")},
            "axes.titlesize": self.size,
            "axes.edgecolor": INK,
            "axes.labelcolor": INK,
            "axes.linewidth": thin,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.axisbelow": True,
            "grid.color": "#E6E6E6",
            "grid.linewidth": thin,
            **{f"{axis}tick.{what}": INK for axis in "xy" for what in ("color", "labelcolor")},
            **{f"{axis}tick.major.width": thin for axis in "xy"},
            **{f"{axis}tick.major.size": self.size / 3 for axis in "xy"},
            "text.color": INK,
            "lines.linewidth": self.size / 6,
            "lines.markersize": self.size * 0.6,
            "lines.solid_capstyle": "butt",
            # An opaque ground keeps figures readable in a dark editor.
            "savefig.facecolor": "white",
            "figure.dpi": 200,
            "savefig.dpi": 200,
            "pdf.fonttype": 42,
            "ps.fonttype": 42,
            "svg.fonttype": "path",
            "svg.hashsalt": "recuse",
        }

    def looks(self, vendors: Iterable[str]) -> dict[str, Look]:
        """The look of each vendor, in a stable order: VENDORS, then `self.vendors`, then the others by name.

        >>> style().looks(["gpt", "acme", "claude"])["gpt"] == style("talk").looks(["gpt"])["gpt"]
        True
        >>> list(style().looks(["gpt", "acme", "claude"]))
        ['claude', 'gpt', 'acme']
        """
        wanted = set(vendors)
        order = list(dict.fromkeys([*VENDORS, *self.vendors, *sorted(wanted)]))
        # The shift keeps pairs unique when colours come round again.
        return {
            vendor: Look(COLOURS[i % len(COLOURS)], MARKERS[(i + 2 * (i // len(COLOURS))) % len(MARKERS)])
            for i, vendor in enumerate(order)
            if vendor in wanted
        }


_STYLES = {
    each.name: each
    for each in (
        Style("paper", 4.4, 6.3, 9),
        Style("neurips", 4.4, 5.5, 8.5),
        Style("icml", 3.25, 6.75, 8),
        Style("acl", 3.03, 6.3, 8),
        Style("talk", 8.0, 12.0, 17),
    )
}


def style(name: str | Style = "paper", vendors: Iterable[str] = ()) -> Style:
    """The style of that name: paper, neurips, icml, acl or talk; a Style is passed through.

    An unknown name is a ValueError that lists the known ones.
    """
    if isinstance(name, Style):
        return name
    if name not in _STYLES:
        raise ValueError(f"no figure style '{name}'; there are: {', '.join(_STYLES)}")
    return replace(_STYLES[name], vendors=tuple(vendors))


def theme(rc: Mapping[str, Any]) -> dict[str, Any]:
    """The settings `rc` over matplotlib's defaults, whatever the user has set; seaborn.objects would bring its own."""
    import matplotlib

    return {key: each for key, each in matplotlib.rcParamsDefault.items() if not key.startswith(_PERSONAL)} | {**rc}


@contextmanager
def settings(rc: Mapping[str, Any]) -> Iterator[None]:
    """Draw with matplotlib's defaults and `rc`; the user's settings come back afterwards."""
    import matplotlib

    with matplotlib.rc_context(theme(rc)), warnings.catch_warnings():
        # seaborn 0.13 passes a keyword that pandas 3 has no use for.
        warnings.filterwarnings("ignore", "The copy keyword is deprecated", DeprecationWarning)
        yield


@dataclass(frozen=True)
class Figure:
    """A finished figure with the words that belong to it.

    `caption` says what is shown, n, the unreadable share and the source of the data; `alt` replaces the picture;
    `style` names the style that it was drawn in.
    """

    name: str
    figure: Canvas
    caption: str
    alt: str
    rc: Mapping[str, Any] = field(default_factory=lambda: style().rc, repr=False)
    style: str = ""

    def render(self, kind: str) -> bytes:
        """The bytes of the file, "png", "pdf" or "svg": the same on every run in the same environment."""
        if kind not in METADATA:
            raise ValueError(f"figure {self.name}: no format '{kind}'; there are: {', '.join(METADATA)}")
        buffer = io.BytesIO()
        frozen = self.figure.get_layout_engine()
        with settings(self.rc):
            # For an engine, one that does nothing too, each file is drawn twice.
            self.figure.set_layout_engine(None)
            try:
                self.figure.savefig(buffer, format=kind, metadata=METADATA[kind])
            finally:
                self.figure.set_layout_engine(frozen)
        return buffer.getvalue()

    @property
    def pixels(self) -> int:
        """The width at which a page shows it: half the resolution of the file, which stays sharp on every screen."""
        return round(100 * self.figure.get_figwidth())

    def _repr_png_(self) -> bytes:
        return self.render("png")


#: Inches of the highest figure that leaves room for its caption on a page, and the width of a letter in font sizes.
HIGHEST, LETTER = 8.5, 0.6


def letters(width: float, look: Style) -> float:
    """How many letters fit beside each other in so many inches."""
    return width * 72 / look.size / LETTER


def canvas(look: Style, width: float, height: float, title: str = "") -> Canvas:
    """An empty figure of that size in inches under its title; outside pyplot, so that nothing is left in the
    session.
    """
    from matplotlib.figure import Figure as Canvas

    figure = Canvas(figsize=(width, height), layout="constrained")
    if title:
        words = textwrap.fill(title, int(0.9 * letters(width, look)))
        figure.suptitle(words, x=0.01, ha="left", fontsize=look.size, fontweight="bold")
    return figure


@dataclass(frozen=True)
class Drawn:
    """A picture that waits for its words, and how many rows had no room in it."""

    figure: Canvas
    look: Style
    left_out: int = 0

    @property
    def words(self) -> str:
        """What the caption says of rows without room."""
        return f" {self.left_out} more in the table." if self.left_out else ""

    def finished(self, name: str, caption: str, alt: str) -> Figure:
        """The figure of this name, its layout frozen."""
        from matplotlib.collections import PathCollection

        for dots in self.figure.findobj(PathCollection):
            dots.set_zorder(3)  # above intervals and bands, which would be drawn over them
        # Each drawing lets the layout engine move things a little; frozen, png, pdf and svg show the same picture.
        with settings(self.look.rc):
            self.figure.draw_without_rendering()
        self.figure.set_layout_engine("none")
        return Figure(name, self.figure, caption, alt, self.look.rc, self.look.name)
