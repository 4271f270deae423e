"""churn.py TABLE: changes a table until its input ends.

Inserts and deletes rows with an x in their names, between those that are there,
by paths and by .mutate, and deletes those with a y, of which there are as many
as TABLE/.. says; prints a line after the first changes, and how many it made.
"""
import os
import random
import select
import sys

table = sys.argv[1]
rows, width = int(sys.argv[2]), len(sys.argv[2])
rng = random.Random(1)
count = 0
mine = []


def mutate(line):
    with open(table + "/.mutate", "w") as f:
        f.write(line)


while not select.select([sys.stdin], [], [], 0)[0]:
    name = "row%0*dx%d" % (width, rng.randrange(rows), count)
    old = mine.pop(rng.randrange(len(mine))) if len(mine) > 50 else None
    if count % 2:
        mutate('{"row":"%s","set":{"f":{"q":"v"}}}\n' % name)
        if old:
            mutate('{"row":"%s","delete":true}\n' % old)
        mutate('{"row":"row%0*dy","delete":true}\n' %
               (width, rng.randrange(rows)))
    else:
        os.makedirs("%s/%s/f" % (table, name))
        with open("%s/%s/f/q" % (table, name), "w") as f:
            f.write("v")
        if old:
            os.unlink("%s/%s/f/q" % (table, old))
            os.rmdir("%s/%s/f" % (table, old))
            os.rmdir("%s/%s" % (table, old))
    mine.append(name)
    count += 1
    if count == 10:
        print("begun", flush=True)
print(count, flush=True)
