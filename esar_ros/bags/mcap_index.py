"""The index at the end of an MCAP file: its checksum, and whether what it says of the file is so.

Source: the MCAP specification, version 0 (mcap.dev/spec), records Footer, Chunk, Chunk Index and Statistics.
"""

from __future__ import annotations

import struct
from binascii import crc32
from collections import Counter
from pathlib import Path
from typing import BinaryIO

from rosbags.rosbag2.storage_mcap import McapReader

from esar_ros.bags.salvage_mcap import MAGIC

_FOOTER = 37  # bytes with the magic: opcode, length, where the summary begins, where its offsets do, checksum
_SUMMED = 25  # bytes of the footer up to the checksum, which is of them too


def ends_well(file: Path) -> bool:
    """Returns whether a file has the end of an MCAP file with an index, and that is what its checksum says."""
    with file.open("rb") as stream:
        if stream.seek(0, 2) < len(MAGIC) + _FOOTER:
            return False
        footer = _footer(stream)
        if footer[0] != 0x02 or footer[9:17] == bytes(8) or not footer.endswith(MAGIC):
            return False
        stated = int.from_bytes(footer[_SUMMED : _SUMMED + 4], "little")
        return stated in (0, _checksum(stream, footer))


def sum_index(file: Path) -> None:
    """Writes the checksum of a file's index, for which the rosbags library leaves a zero."""
    with file.open("r+b") as stream:
        checksum = _checksum(stream, _footer(stream))
        stream.seek(_SUMMED - _FOOTER, 2)
        stream.write(struct.pack("<I", checksum))


def fits(reader: McapReader) -> bool:
    """Returns whether the index that was read names each chunk where it lies, and as many messages as it counts.

    Of a file without the checksum this is all that tells of flipped bits, which would hide messages.
    """
    assert reader.bio is not None and reader.statistics is not None
    counts: Counter[int] = Counter()
    size = reader.bio.seek(0, 2)
    for chunk in reader.chunks:
        counts.update(chunk.channel_count)
        name = chunk.compression.encode()
        length = 49 + len(name) + chunk.compressed_size
        if chunk.chunk_length != length or chunk.chunk_start_offset + length > size:
            return False
        times_size = struct.pack("<QQQ", chunk.message_start_time, chunk.message_end_time, chunk.uncompressed_size)
        packed = struct.pack("<I", len(name)) + name + struct.pack("<Q", chunk.compressed_size)
        reader.bio.seek(chunk.chunk_start_offset + 9)
        head = reader.bio.read(28 + len(packed))
        if head[:24] != times_size or head[28:] != packed:  # between them is the checksum
            return False
    told = reader.statistics
    return (
        (told.chunk_count, told.message_count) == (len(reader.chunks), counts.total())
        and reader.channels.keys() >= (+counts).keys()
        # Which channel has how many need not be told.
        and (not told.channel_message_counts or +Counter(told.channel_message_counts) == +counts)
    )


def _footer(stream: BinaryIO) -> bytes:
    stream.seek(-_FOOTER, 2)
    return stream.read()


def _checksum(stream: BinaryIO, footer: bytes) -> int:
    """Of the bytes from the summary's begin to the footer's own checksum."""
    end = stream.seek(_SUMMED - _FOOTER, 2)
    begin = int.from_bytes(footer[9:17], "little")
    if begin > end:
        return -1
    stream.seek(begin)
    return crc32(stream.read(end - begin))
