"""Compares all pairs of buffers of a packed file: usage: check_arena.py IN.csv PACKED.csv CAPACITY"""
import csv
import sys


def read(path):
    with open(path) as file:
        return list(csv.DictReader(file))


def main():
    asked, packed, capacity = read(sys.argv[1]), read(sys.argv[2]), int(sys.argv[3])
    columns = ("id", "lower", "upper", "size")
    if [[row[c] for c in columns] for row in asked] != [[row[c] for c in columns] for row in packed]:
        sys.exit("the buffers are not those of the input, in its order")
    rows = [(int(r["lower"]), int(r["upper"]), int(r["offset"]), int(r["offset"]) + int(r["size"])) for r in packed]
    for i, (lower, upper, low, high) in enumerate(rows):
        if low < 0 or high > capacity:
            sys.exit(f"buffer {packed[i]['id']} is outside the capacity")
        for j, (lower2, upper2, low2, high2) in enumerate(rows[:i]):
            if lower < upper2 and lower2 < upper and low < high2 and low2 < high:
                sys.exit(f"buffers {packed[i]['id']} and {packed[j]['id']} overlap")


if __name__ == "__main__":
    main()
