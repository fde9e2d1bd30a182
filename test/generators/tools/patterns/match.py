"""Prints for each pattern of the standard input which of its texts match, as 0 and 1.

Each line is a list of code points; an empty line ends the patterns.
"""

import re
import sys

patterns, texts = (
    ["".join(chr(int(code)) for code in line.split()) for line in part.splitlines()]
    for part in sys.stdin.read().split("\n\n")
)
for pattern in patterns:
    search = re.compile(pattern).search
    print("".join("1" if search(text) else "0" for text in texts))
