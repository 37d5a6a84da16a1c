"""Grey pictures as files: 8 bits a pixel, BMP."""

import struct

HEADER = 14 + 40 + 4 * 256  # the file's, the picture's, and the 256 greys
_PALETTE = b"".join(bytes([grey, grey, grey, 0]) for grey in range(256))


def pitch_of(width):
    """How many bytes a row takes: a multiple of 4, whatever the width."""
    return (width + 3) // 4 * 4


def bmp_of(width, height, pixels):
    """The file of a picture, whose pixels are rows from the top; BMP's begin at the bottom."""
    gap = b"\xa5" * (pitch_of(width) - width)
    rows = b"".join(pixels[y * width:(y + 1) * width] + gap for y in reversed(range(height)))
    head = struct.pack("<2sIHHI", b"BM", HEADER + len(rows), 0, 0, HEADER)
    head += struct.pack("<IiiHHIIiiII", 40, width, height, 1, 8, 0, len(rows), 2835, 2835, 256, 0)
    return head + _PALETTE + rows


def read_bmp(path):
    """(width, height, pixels) of a file such as bmp_of makes. Raises ValueError for others."""
    data = path.read_bytes()
    begin, _, width, height, _, bits, packed = struct.unpack("<IIiiHHI", data[10:34])
    if data[:2] != b"BM" or bits != 8 or packed or width < 1 or height < 1 or data[54:54 + 1024] != _PALETTE:
        raise ValueError(f"{path}: no grey picture of 8 bits a pixel")
    pitch = pitch_of(width)
    rows = (data[begin + y * pitch:begin + y * pitch + width] for y in reversed(range(height)))
    return width, height, b"".join(rows)


def side_by_side(width, height, left, right):
    """The file of two pictures of the same size."""
    rows = (left[y * width:(y + 1) * width] + right[y * width:(y + 1) * width] for y in range(height))
    return bmp_of(2 * width, height, b"".join(rows))
