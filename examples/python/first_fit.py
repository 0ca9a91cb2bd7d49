#!/usr/bin/env python3
"""Five districts of four people each, known only by their share of votes for a bypass road: who is in favour?"""

import numpy as np

import bagwise

# Age and length of the way to work in km.
people = np.array([
    [34, 3], [51, 6], [28, 22], [63, 4],
    [45, 31], [37, 24], [58, 5], [29, 19],
    [61, 8], [33, 27], [48, 2], [39, 18],
    [25, 2], [47, 5], [70, 3], [31, 7],
    [42, 35], [55, 21], [36, 28], [50, 17],
])  # fmt: skip
districts = np.repeat(["Harbour", "Hills", "Mill", "Old Town", "Lake"], 4)
in_favour = {"Harbour": 0.25, "Hills": 0.75, "Mill": 0.5, "Old Town": 0.0, "Lake": 1.0}

model = bagwise.InvCal(scale="standard").fit(people, districts, in_favour)
for person in [[30, 40], [30, 1], [65, 9]]:
    share = model.predict_proba([person])[0, 1]
    print(f"age {person[0]}, {person[1]} km to work: {'in favour' if share > 0.5 else 'against'} ({share:.2f})")
