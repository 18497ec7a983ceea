"""Photographs as a drone of DJI leaves them on its card: JPEG with EXIF and XMP."""

from __future__ import annotations

import io
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, TiffImagePlugin

_GPS, _EXIF = 0x8825, 0x8769
SIZE = (64, 48)  # px
FILM = 24.0  # mm, the equal focal length of 35 mm film


def photograph(
    path: Path,
    latitude: float | None = 34.0,
    longitude: float = 107.0,
    *,
    altitude: float = 1560.0,
    datum: str = "WGS-84",
    time: str = "2026:05:01 12:00:00",
    offset: str | None = "+08:00",
    gps_time: tuple[int, int, int] | None = None,
    model: str = "FC8482",
    pixels: NDArray[np.uint8] | None = None,
    film: float = FILM,
    exif_width: int | None = None,
    prefix: str = "drone-dji",
    **xmp: Any,
) -> Path:
    """Writes a photograph. xmp: fields of DJI's name space, beside or in place of an attitude that looks down; None
    leaves one out. latitude: None for one that has no position."""
    picture = Image.new("RGB", SIZE) if pixels is None else Image.fromarray(pixels)
    exif = Image.Exif()
    exif[0x010F], exif[0x0110] = "DJI", model
    own = exif.get_ifd(_EXIF)
    own[0x9003], own[0x920A], own[0xA405] = time, TiffImagePlugin.IFDRational(67, 10), round(film)
    own[0xA002], own[0xA003] = exif_width or picture.width, picture.height
    if offset is not None:
        own[0x9011] = offset
    if latitude is not None:
        gps = exif.get_ifd(_GPS)
        gps[1], gps[2] = "N" if latitude >= 0.0 else "S", _sexagesimal(latitude)
        gps[3], gps[4] = "E" if longitude >= 0.0 else "W", _sexagesimal(longitude)
        gps[5], gps[6], gps[0x12] = b"\x00", _rational(altitude), datum
        if gps_time is not None:
            gps[0x1D], gps[7] = time[:10], tuple(map(_rational, gps_time))
    fields = {
        "GimbalYawDegree": "+30.10",
        "GimbalPitchDegree": "-90.00",
        "GimbalRollDegree": "+0.00",
        "FlightYawDegree": "+29.70",
        "AbsoluteAltitude": f"{altitude:+.3f}",
        "RelativeAltitude": "+60.000",
    } | xmp
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=92, exif=exif)
    told = {name: value for name, value in fields.items() if value is not None}
    path.write_bytes(_with_xmp(out.getvalue(), told, prefix))
    return path


def _rational(value: float) -> TiffImagePlugin.IFDRational:
    share = Fraction(value).limit_denominator(100_000)
    return TiffImagePlugin.IFDRational(share.numerator, share.denominator)


def _sexagesimal(degrees: float) -> tuple[TiffImagePlugin.IFDRational, ...]:
    whole = round(abs(degrees) * 3600 * 10_000)
    seconds = TiffImagePlugin.IFDRational(whole % 600_000, 10_000)
    return _rational(whole // 36_000_000), _rational(whole // 600_000 % 60), seconds


def _with_xmp(jpeg: bytes, fields: dict[str, Any], prefix: str) -> bytes:
    told = " ".join(f'{prefix}:{name}="{value}"' for name, value in fields.items())
    text = (
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        f'<rdf:Description xmlns:{prefix}="http://www.dji.com/drone-dji/1.0/" {told}/></rdf:RDF></x:xmpmeta>'
    )
    body = b"http://ns.adobe.com/xap/1.0/\x00" + text.encode()
    return jpeg[:2] + b"\xff\xe1" + (len(body) + 2).to_bytes(2, "big") + body + jpeg[2:]
