"""Lines of a table that was made for eyes: bars, box drawing, tabs or wide gaps between the columns."""

from __future__ import annotations

import re
import unicodedata

from holter.readers.lines import without_colours
from holter.readers.numbers import Gap, number

_BARS = str.maketrans(dict.fromkeys("│┃║❘｜╎┆┊▏", "|"))
_BORDER = re.compile(r"[\s|+\-=_:.·─━═╌╍┄┅┈┉╴╶╸╺┌-╬╭╮╯╰]*")
_ESCAPED = "\0"
_GAP = re.compile(r"\s{2,}|\u3000+")
_DECORATION = re.compile(r"^(?:\*\*|__|`|~~|\*|<b>|<strong>)+|(?:\*\*|__|`|~~|\*|</b>|</strong>)+$")
_NUMERAL = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
_WITH_UNIT = re.compile(rf"({_NUMERAL})\s*([^\W\d_]\S{{0,15}}|µ\w)", re.ASCII)
_WITH_UNIT_ANY = re.compile(rf"({_NUMERAL})\s*([\u4e00-\u9fff]{{1,4}})")
_REMARKS = re.compile(r"(?:\s*(?:\([^()]*\)|[^\w\s%.,()\[\]]))+$")
_ABOUT = ("~", "≈")
_LONGEST_NUMBER = 200
_THOUSANDS = {"k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9, "G": 1e9}


def plain(line: str) -> str:
    """A line without colours, with every kind of bar written as ``|``."""
    return without_colours(line).translate(_BARS).rstrip()


def is_border(line: str) -> bool:
    """Whether a plain line only draws: ``|---|:--:|``, ``+====+``, ``├───┤``."""
    return _BORDER.fullmatch(line) is not None and any(unicodedata.category(c) in ("Pd", "So", "Sm") for c in line)


def splits(line: str) -> list[list[str]]:
    """The ways in which a plain line may be taken apart into cells, the surest first."""
    if "|" in line:
        inner = line.replace("\\|", _ESCAPED).strip().removeprefix("|").removesuffix("|")
        return [[_undecorated(cell.replace(_ESCAPED, "|")) for cell in inner.split("|")]]
    ways = []
    if "\t" in line:
        cells = [_undecorated(c) for c in line.strip("\r\n ").split("\t")]
        ways = [cells, [c for c in cells if c]]
    stripped = line.strip()
    ways.append([_undecorated(c) for c in _GAP.split(stripped)])
    ways.append([_undecorated(c) for c in stripped.split()])
    return [way for index, way in enumerate(ways) if len(way) > 1 and way not in ways[:index]]


def _undecorated(cell: str) -> str:
    """A cell without the signs of Markdown around it."""
    return " ".join(_DECORATION.sub("", cell.strip()).split())


def value(cell: str) -> str | float | Gap:
    """What a cell says: a number without its unit or remarks, a `Gap`, or the text itself."""
    found = number(cell)
    if found is not Gap.OTHER or "±" in cell or len(cell) > _LONGEST_NUMBER:
        return cell if found is Gap.OTHER else found
    bare = _REMARKS.sub("", cell[1:].lstrip() if cell.startswith(_ABOUT) else cell)
    if not bare[:1].isdigit() and bare[:1] not in ("-", "+", "."):
        return cell
    united = _WITH_UNIT.fullmatch(bare) or _WITH_UNIT_ANY.fullmatch(bare)
    if united:
        return float(united[1]) * _THOUSANDS.get(united[2], 1.0)
    told = number(bare)
    return told if isinstance(told, float) else cell
