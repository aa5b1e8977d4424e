#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rtl diff: against what is known of two traces, and the statistics as their definitions have them."""

import itertools
import json
import math
import pathlib
import random
import statistics
import unittest

from cli_kit import PROGRAM, Case
from cli_show import RPD

NAMES = ("same", "slower", "noisy", "tail", "gone", "new", "few")


def greater(a, b):
    """How often one of b is greater (equal: one half)."""
    return sum((y > x) + (y == x) / 2 for x in a for y in b) / (len(a) * len(b))


def confidence(a, b):
    """Welch's t-test, with the variance of stretches in place of that of means; 0 of few or unsteady ones."""
    size = [1, 1]
    for i, values in enumerate((a, b)):
        while len(values) // size[i] >= 16:
            size[i] *= 2
    of_a, of_b = ([sum(v[i:i + n]) / n for i in range(0, len(v) - n + 1, n)] for v, n in zip((a, b), size))
    if min(len(of_a), len(of_b)) < 8 or any(statistics.stdev(v) > 0.05 * statistics.mean(v) for v in (of_a, of_b)):
        return 0
    errors = statistics.variance(of_a), statistics.variance(of_b)
    freedom = sum(errors)**2 / (errors[0]**2 / (len(of_a) - 1) + errors[1]**2 / (len(of_b) - 1))
    width = abs(statistics.mean(of_b) - statistics.mean(of_a)) / math.sqrt(sum(errors)) / 20000
    density = sum((1 + ((i + 0.5) * width)**2 / freedom)**(-(freedom + 1) / 2) for i in range(20000)) * width
    return 2 * density * math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)


class Diff(Case):
    """rtl diff"""

    leaks = True

    def make(self, name, durations):
        """A trace with kernels of these durations, below 128 ns, which are kept exactly."""
        pathlib.Path(self.path(name)).unlink(missing_ok=True)
        self.script(name, RPD)
        self.insert(name, "INSERT INTO rocpd_string VALUES (?, ?)", enumerate(durations, 30))
        works = [(key, ns) for key, values in enumerate(durations.values(), 30) for ns in values]
        self.insert(name, "INSERT INTO rocpd_op VALUES (NULL, 1, 1, 0, '', ?, ?, ?, 2)",
                    [(at, at + ns, key) for at, (key, ns) in zip(itertools.count(10**15, 1000), works)])

    def make_both(self):
        rng = random.Random(5)
        before, after = {}, {}
        for runs, more in ((before, 0), (after, 1)):
            runs["same"] = [rng.randrange(90, 110) for _ in range(300)]
            runs["slower"] = [rng.randrange(60, 80) + 9 * more for _ in range(300)]
            runs["noisy"] = [rng.randrange(1, 120) for _ in range(20)]
            # One of many takes long: the mean goes up, while most take less.
            runs["tail"] = [50 - 2 * more] * 300 + [127] * (60 * more)
            runs["few"] = [60, 70 + more * 20]
        before["gone"] = after["new"] = [10, 10]
        self.make("a.db", before)
        self.make("b.db", after)
        return before, after

    def rows(self, *arguments):
        done = self.rtl("diff", "--json", *arguments, "a.db", "b.db")
        section, = [s for s in json.loads(done.stdout)["sections"] if s["kind"] == "task"]
        return {row["name"]: row for row in section["rows"]}

    def test_numbers__as_by_definition(self):
        before, after = self.make_both()
        rows = self.rows()
        self.assertEqual(set(rows), set(NAMES))
        for name in set(before) & set(after):
            a, b, row = before[name], after[name], rows[name]
            self.assertAlmostEqual(row["greater"], greater(a, b), places=5)
            self.assertAlmostEqual(row["confidence"], confidence(a, b), places=7)
            self.assertEqual((row["count"], row["total_ns"]), ([len(a), len(b)], [sum(a), sum(b)]))
            self.assertAlmostEqual(row["mean_change"], sum(b) / len(b) / (sum(a) / len(a)) - 1, places=5)

    def test_verdicts(self):
        self.make_both()
        verdicts = {name: row["verdict"] for name, row in self.rows().items()}
        self.assertEqual((verdicts["slower"], verdicts["same"], verdicts["gone"], verdicts["new"]),
                         ("slower", "same", "gone", "new"))
        self.assertEqual((verdicts["few"], verdicts["tail"]), ("unsure", "unsure"))
        self.assertNotEqual(verdicts["noisy"], "slower")
        self.assertEqual(self.rows("--least", "50")["slower"]["verdict"], "same")

    def test_text(self):
        self.make_both()
        text = self.rtl("diff", "a.db", "b.db").stdout
        self.assertRegex(text, r"(?m)^a.db -> b.db$")
        self.assertRegex(text, r"(?m)^GPU kernels: \S+ -> \S+ \(\+\d+\.\d%\)$")
        self.assertRegex(text, r"(?m)^ *\S+ +\+\S+ +300 +\+\d+\.\d% +\+\d+\.\d% +99\.9% +slower +slower$")
        self.assertRegex(text, r"(?m)^ *0ns +-20ns +2 -> 0 +gone +gone$")
        self.assertEqual(len(self.rtl("diff", "--top", "2", "a.db", "b.db").stdout.splitlines()), 8)

    def test_fail__status_tells(self):
        self.make_both()
        for percent, status in (("0", 3), ("5", 3), ("90", 0)):
            self.assertEqual(self.rtl("diff", "--fail", percent, "a.db", "b.db").returncode, status)
        self.assertEqual(self.rtl("diff", "--fail", "0", "a.db", "a.db").returncode, 0)
        self.assertEqual(self.rtl("diff", "a.db", "b.db").returncode, 0)

    def test_two_runs__that_drift__are_not_called_different(self):
        """What another program slows down for a while makes many durations alike, and says little of the next run."""
        rng = random.Random(9)
        for _ in range(20):
            for name in ("a.db", "b.db"):
                self.make(name, {f"k{i}": [max(1, round(level * rng.gauss(1, 0.02)))
                                           for level in (rng.gauss(70, 12) for _ in range(8)) for _ in range(16)]
                                 for i in range(6)})
            self.assertEqual({row["verdict"] for row in self.rows().values()} - {"same", "unsure"}, set())

    def make_runs(self, rng, prefix, count, factor, names):
        """Runs whose kernels differ from run to run more than within one; names with some calls each."""
        files = []
        for i in range(count):
            files.append(f"{prefix}{i}.db")
            self.make(files[-1], {name: [max(1, round(rng.gauss(60, 1) * drift * factor.get(name, 1)))
                                         for _ in range(40)]
                                  for name in names for drift in [rng.gauss(1, 0.04)]})
        return files

    def several(self, before, after, *arguments):
        done = self.rtl("diff", "--json", *arguments, *before, "--", *after)
        section, = [s for s in json.loads(done.stdout)["sections"] if s["kind"] == "task"]
        return done.returncode, {row["name"]: row for row in section["rows"]}

    def test_runs__that_are_the_same__are_not_called_different(self):
        rng, names = random.Random(7), [f"k{i}" for i in range(30)]
        for _ in range(20):
            status, rows = self.several(self.make_runs(rng, "a", 3, {}, names), self.make_runs(rng, "b", 3, {}, names),
                                        "--fail", "0")
            self.assertEqual(status, 0)
            self.assertEqual({row["verdict"] for row in rows.values()} - {"same", "unsure"}, set())

    def test_runs__that_differ__are(self):
        rng, names = random.Random(8), [f"k{i}" for i in range(5)]
        before = self.make_runs(rng, "a", 6, {}, names)
        after = self.make_runs(rng, "b", 6, {"k1": 1.5, "k2": 0.6}, names)
        status, rows = self.several(before, after, "--fail", "20")
        self.assertEqual(status, 3)
        self.assertEqual({name: row["verdict"] for name, row in rows.items() if row["verdict"] not in ("same", "unsure")},
                         {"k1": "slower", "k2": "faster"})
        self.assertLess(abs(rows["k1"]["mean_change"] - 0.5), rows["k1"]["mean_margin"])
        self.assertEqual(rows["k1"]["count"], [40, 40])
        text = self.rtl("diff", "--only", "kernels", *before, "--", *after).stdout
        self.assertRegex(text, r"(?m)^a0.db .* a5.db -> b0.db .* b5.db$")
        self.assertRegex(text, r"(?m) \+\d+\.\d \+-\d+\.\d% .* slower  k1$")

    def test_traced_programs(self):
        for name in ("a.db", "b.db"):
            self.rtl("trace", "-q", "-o", name, PROGRAM, "100")
        counts = sorted(row["count"] for row in self.rows().values())
        self.assertEqual(counts, [[25, 25], [75, 75]])

    def test_bad_input(self):
        self.make_both()
        self.refused(2, "rtl diff BEFORE AFTER", "diff", "a.db")
        self.refused(2, "BEFORE... -- AFTER...", "diff", "a.db", "b.db", "c.db")
        self.refused(2, "give kernels, calls or steps", "diff", "--only", "x", "a.db", "b.db")
        for percent in ("x", "-1", "nan", "", "5x"):
            self.refused(2, "give percent", "diff", "--fail", percent, "a.db", "b.db")
        self.refused(1, "No such file", "diff", "a.db", "missing.db")
        self.refused(1, "is not a trace", "diff", self.write("text", "x" * 9999), "b.db")


if __name__ == "__main__":
    unittest.main()
