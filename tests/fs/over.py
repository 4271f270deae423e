"""over.py TABLE TURNS: writes 2,000 rows of 2,000 bytes over and over."""

import os
import sys

for turn in range(int(sys.argv[2])):
    for row in range(2000):
        path = "%s/r%d/f" % (sys.argv[1], row)
        if turn == 0:
            os.makedirs(path, exist_ok=True)
        with open(path + "/v", "wb") as f:
            f.write(os.urandom(2000))
