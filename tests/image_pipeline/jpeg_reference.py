# SPDX-License-Identifier: BSL-1.0
"""A slow decoder of baseline JPEG files and a slow area filter, both straight from their definitions and in double
precision: what the example's images are compared with. Shares no code with libjpeg or the example.

Source: ITU-T T.81 (Annexes A, B, C, F), JFIF 1.02 for the colours; Adobe's APP14 marker says that CMYK is inverted.
Halved chrominance is interpolated linearly between sample centres (weights 3/4 and 1/4), as decoders usually do."""

import math


class Bits:
    """The bits of one scan; zero bytes stuffed after 0xff are left out, restart markers end the data."""

    def __init__(self, data, at):
        self.data, self.at, self.value, self.count = data, at, 0, 0

    def one(self):
        if self.count == 0:
            byte = self.data[self.at]
            self.at += 1
            if byte == 0xFF:
                follower = self.data[self.at]
                if follower == 0:
                    self.at += 1
                else:
                    raise ValueError("marker inside the scan")
            self.value, self.count = byte, 8
        self.count -= 1
        return (self.value >> self.count) & 1

    def many(self, count):
        value = 0
        for _ in range(count):
            value = value * 2 + self.one()
        return value

    def signed(self, count):
        value = self.many(count)
        return value if count == 0 or value >> (count - 1) else value - (1 << count) + 1

    def symbol(self, table):
        code = length = 0
        while True:
            code, length = code * 2 + self.one(), length + 1
            if (length, code) in table:
                return table[length, code]
            if length == 16:
                raise ValueError("no such Huffman code")


def huffman_table(counts, symbols):
    table, code, at = {}, 0, 0
    for length, count in enumerate(counts, 1):
        for _ in range(count):
            table[length, code] = symbols[at]
            code, at = code + 1, at + 1
        code *= 2
    return table


def zigzag():
    cells = [(x, y) for y in range(8) for x in range(8)]
    return sorted(cells, key=lambda c: (c[0] + c[1], c[1] if (c[0] + c[1]) % 2 else c[0]))


ZIGZAG = zigzag()
COSINE = [[(math.sqrt(0.125) if u == 0 else 0.5) * math.cos((2 * x + 1) * u * math.pi / 16) for u in range(8)]
          for x in range(8)]


def inverse_transform(block):
    """block[v][u] -> samples[y][x], 0 to 255."""
    rows = [[sum(COSINE[x][u] * row[u] for u in range(8)) for x in range(8)] if any(row) else [0.0] * 8
            for row in block]
    return [[min(255.0, max(0.0, sum(COSINE[y][v] * rows[v][x] for v in range(8)) + 128)) for x in range(8)]
            for y in range(8)]


def stretched(line, factor, length):
    """A line of samples at factor (1 or 2) times the resolution."""
    if factor == 1:
        return line[:length]
    result = []
    for i, value in enumerate(line):
        result.append(0.75 * value + 0.25 * line[max(i - 1, 0)])
        result.append(0.75 * value + 0.25 * line[min(i + 1, len(line) - 1)])
    return result[:length]


def decode(data):
    """Rows of (red, green, blue) triples."""
    tables, quantisation, components, adobe = {}, {}, [], None
    at = 2
    assert data[:2] == b"\xff\xd8"
    while True:
        marker, length = data[at + 1], data[at + 2] * 256 + data[at + 3]
        segment = data[at + 4:at + 2 + length]
        at += 2 + length
        if marker == 0xDB:
            while segment:
                quantisation[segment[0] & 15] = segment[1:65]
                segment = segment[65:]
        elif marker == 0xC4:
            while segment:
                total = sum(segment[1:17])
                tables[segment[0]] = huffman_table(segment[1:17], segment[17:17 + total])
                segment = segment[17 + total:]
        elif marker == 0xC0:
            height, width = segment[1] * 256 + segment[2], segment[3] * 256 + segment[4]
            components = [{"id": segment[6 + 3 * i], "h": segment[7 + 3 * i] >> 4, "v": segment[7 + 3 * i] & 15,
                           "q": segment[8 + 3 * i]} for i in range(segment[5])]
        elif marker == 0xEE and segment[:5] == b"Adobe":
            adobe = segment[11]
        elif marker == 0xDA:
            for i in range(segment[0]):
                for component in components:
                    if component["id"] == segment[1 + 2 * i]:
                        component["dc"], component["ac"] = segment[2 + 2 * i] >> 4, 16 + (segment[2 + 2 * i] & 15)
            break
        elif marker not in range(0xE0, 0xF0) and marker != 0xFE:
            raise ValueError("marker %#x is beyond this decoder" % marker)
    planes = read_scan(Bits(data, at), width, height, components, tables, quantisation)
    return to_rgb(planes, width, height, adobe)


def read_scan(bits, width, height, components, tables, quantisation):
    most_h, most_v = max(c["h"] for c in components), max(c["v"] for c in components)
    if len(components) == 1:  # a scan of one component is not interleaved
        components[0]["h"] = components[0]["v"] = most_h = most_v = 1
    across, down = -(-width // (8 * most_h)), -(-height // (8 * most_v))
    for c in components:
        c["samples"] = [[0.0] * (across * c["h"] * 8) for _ in range(down * c["v"] * 8)]
        c["last"] = 0
    for unit in range(across * down):
        for c in components:
            for v in range(c["v"]):
                for h in range(c["h"]):
                    block = read_block(bits, c, tables, quantisation[c["q"]])
                    left = (unit % across * c["h"] + h) * 8
                    top = (unit // across * c["v"] + v) * 8
                    for y, row in enumerate(inverse_transform(block)):
                        c["samples"][top + y][left:left + 8] = row
    planes = []
    for c in components:
        w, h = -(-width * c["h"] // most_h), -(-height * c["v"] // most_v)
        rows = [stretched(row[:w], most_h // c["h"], width) for row in c["samples"][:h]]
        columns = [stretched([row[x] for row in rows], most_v // c["v"], height) for x in range(width)]
        planes.append([[columns[x][y] for x in range(width)] for y in range(height)])
    return planes


def read_block(bits, component, tables, steps):
    block = [[0] * 8 for _ in range(8)]
    component["last"] += bits.signed(bits.symbol(tables[component["dc"]]))
    block[0][0] = component["last"] * steps[0]
    k = 1
    while k < 64:
        symbol = bits.symbol(tables[component["ac"]])
        if symbol == 0:
            break
        k += symbol >> 4
        value = bits.signed(symbol & 15)
        if symbol != 0xF0:
            x, y = ZIGZAG[k]
            block[y][x] = value * steps[k]
        k += 1
    return block


def to_rgb(planes, width, height, adobe):
    limit = lambda value: min(255.0, max(0.0, value))
    rows = []
    for y in range(height):
        row = []
        for x in range(width):
            values = [plane[y][x] for plane in planes]
            if len(values) == 1:
                row.append((values[0],) * 3)
                continue
            if len(values) == 3 or adobe == 2:
                luma, blue, red = values[0], values[1] - 128, values[2] - 128
                colour = [limit(luma + 1.402 * red), limit(luma - 0.344136286 * blue - 0.714136286 * red),
                          limit(luma + 1.772 * blue)]
                if len(values) == 4:  # YCCK: the colour is that of the ink
                    colour = [255 - value for value in colour]
            else:
                colour = values[:3]
            if len(values) == 4:
                colour = [value * values[3] / 255 for value in colour]
            row.append(tuple(colour))
        rows.append(row)
    return rows


def overlaps(length, size, target):
    """The source pixels under one target pixel, each with the length that lies under it."""
    begin, end = target * length / size, (target + 1) * length / size
    cells = range(math.floor(begin), min(length, math.ceil(end)))
    return [(cell, min(cell + 1, end) - max(cell, begin)) for cell in cells]


def resized_pixel(rows, size, y, x):
    """The mean colour of the rectangle under pixel (y, x) of the image at size * size."""
    total, area = [0.0] * 3, 0.0
    for row, tall in overlaps(len(rows), size, y):
        for column, wide in overlaps(len(rows[0]), size, x):
            area += tall * wide
            for k in range(3):
                total[k] += tall * wide * rows[row][column][k]
    return [value / area for value in total]
