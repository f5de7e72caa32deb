"""One task of montage.dag: montage.py TASK [ARGUMENT ...]

Reads what earlier tasks have made, and writes its own to standard output.  An image is a text file:
a line with its name and the place of its upper left pixel, then a line for each row of pixels.
"""

import math
import os
import sys

STEP, SIZE = 32, 40  # pixels from an image to the next, and of a side of one
ROUNDS = 1000  # of the model


def observe(rows, columns):
    """Take the raw images: each of its own brightness, and not quite where it should be."""
    from random import Random  # here: it takes as long as most tasks

    chance = Random(1)
    wide, high = STEP * int(columns), STEP * int(rows)
    stars = []
    for area, least, most, light in ((700, 1, 3, 200), (20000, 10, 20, 60)):
        for _ in range(wide * high // area):
            x, y = chance.uniform(0, wide), chance.uniform(0, high)
            stars.append((x, y, chance.uniform(least, most), light))
    for row in range(int(rows)):
        for column in range(int(columns)):
            x, y = STEP * column - chance.random(), STEP * row - chance.random()
            name = f"raw_{row + 1}_{column + 1:02}"
            with open(name + ".txt", "w") as file:
                write(name, x, y, exposed(x, y, stars, chance.uniform(20, 120)), file)


def exposed(x, y, stars, level):
    """The pixels of a raw image, which is a pixel larger than those that it is projected on."""
    pixels = [[level] * (SIZE + 2) for _ in range(SIZE + 2)]
    for star_x, star_y, radius, light in stars:
        if max(abs(star_x - x), abs(star_y - y)) < 2 * SIZE + 4 * radius:
            across, down = profile(star_x - x, radius), profile(star_y - y, radius)
            for row, part in zip(pixels, down):
                row[:] = [value + light * part * other for value, other in zip(row, across)]
    return pixels


def profile(place, radius):
    """How bright each pixel in a row is whose centre is at so much from a star."""
    return [math.exp(-(((n - place) / radius) ** 2) / 2) for n in range(SIZE + 2)]


def project(name, row, column):
    """Move an image to its place in the mosaic, by less than a pixel: each is a mean of four."""
    _, x, y, pixels = read(name)
    new_x, new_y = STEP * (int(column) - 1), STEP * (int(row) - 1)
    right, down = new_x - x, new_y - y
    rows = [between(upper, lower, down) for upper, lower in zip(pixels, pixels[1:])]
    projected = [between(row, row[1:], right)[:SIZE] for row in rows]
    write(name.replace("raw", "project"), new_x, new_y, projected[:SIZE])


def between(some, others, part):
    """From one row of pixels to another."""
    return [(1 - part) * one + part * other for one, other in zip(some, others)]


def difference(first, second):
    """Subtract the second of two images from the first where they overlap."""
    _, x, y, one = read(first)
    _, left, top, other = read(second)
    right, down = int(left - x), int(top - y)
    both = zip(one[down:], other)
    subtracted = [[a - b for a, b in zip(row[right:], others)] for row, others in both]
    write(f"{first},{second}", left, top, subtracted)


def fit(name):
    """Tell by how much the first of two images is brighter: the median, as stars differ more."""
    pair, _, _, pixels = read(name)
    values = sorted(value for row in pixels for value in row)
    print(*pair.split(","), values[len(values) // 2])


def model():
    """Find a correction of each image that makes all pairs alike, from pair to pair."""
    beside = {}
    for name in made("fit_"):
        with open(name + ".txt") as file:
            first, second, brighter = file.read().split()
        beside.setdefault(first, []).append((second, float(brighter)))
        beside.setdefault(second, []).append((first, -float(brighter)))
    levels = dict.fromkeys(beside, 0.0)
    for _ in range(ROUNDS):
        for name, others in beside.items():
            wanted = [levels[other] + brighter for other, brighter in others]
            levels[name] = sum(wanted) / len(wanted)
    for name, level in levels.items():
        print(name, round(level, 3))


def correct(name):
    """Subtract from an image what the model says."""
    with open("model.txt") as file:
        levels = dict(line.split() for line in file)
    _, x, y, pixels = read(name)
    corrected = [[value - float(levels[name]) for value in row] for row in pixels]
    write(name.replace("project", "correct"), x, y, corrected)


def table():
    """List the corrected images: name, place, darkest and brightest pixel."""
    for name in made("correct_"):
        _, x, y, pixels = read(name)
        print(name, x, y, min(map(min, pixels)), max(map(max, pixels)))


def mosaic():
    """Add the images of the table: a picture that viewers can show (PGM)."""
    with open("table.txt") as file:
        images = [line.split() for line in file]
    darkest = min(float(image[3]) for image in images)
    found = {}
    for name, *_ in images:
        _, x, y, pixels = read(name)
        for n, row in enumerate(pixels):
            for m, value in enumerate(row):
                found.setdefault((y + n, x + m), []).append(value - darkest)
    bottom, right = max(found)
    print("P2", int(right) + 1, int(bottom) + 1, 255)
    for place in sorted(found):
        print(min(255, round(sum(found[place]) / len(found[place]))))


def made(begin):
    """Names of the files that begin so."""
    names = (name[:-4] for name in os.listdir() if name.endswith(".txt"))
    return sorted(name for name in names if name.startswith(begin))


def read(name):
    """Name, place and pixels of an image."""
    with open(name + ".txt") as file:
        title, x, y = next(file).split()
        return title, float(x), float(y), [[float(word) for word in line.split()] for line in file]


def write(name, x, y, pixels, file=None):
    """Write an image, to standard output if no file is given."""
    print(name, x, y, file=file)
    for row in pixels:
        print(*[round(value, 2) for value in row], file=file)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
