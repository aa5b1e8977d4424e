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

NAMES = ("same", "slower", "noisy", "tail", "gone", "new", "few", "more", "disturbed")


def confidence(a, b):
    """Student's t-test of logarithms."""
    a, b = [math.log(x) for x in a], [math.log(x) for x in b]
    freedom = len(a) + len(b) - 2
    variance = sum((x - statistics.mean(v))**2 for v in (a, b) for x in v) / freedom
    error = math.sqrt(variance * (1 / len(a) + 1 / len(b)))
    width = abs(statistics.mean(b) - statistics.mean(a)) / error / 20000
    density = sum((1 + ((i + 0.5) * width)**2 / freedom)**(-(freedom + 1) / 2) for i in range(20000)) * width
    return 2 * density * math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)


class Diff(Case):
    """rtl diff"""

    leaks = True

    def make(self, name, durations):
        """A trace with kernels of these durations."""
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
            runs["slower"] = [rng.randrange(40, 60) + 60 * more for _ in range(300)]
            runs["noisy"] = [rng.randrange(1, 120) for _ in range(20)]
            # One of many takes long: the mean goes up, while most take less.
            runs["tail"] = [50 - 2 * more] * (300 - 60 * more) + [127] * (60 * more)
            runs["few"] = [40, 50 + more * 60]
            runs["disturbed"] = [10] * 20 if not more else [30] * 10 + [120] * 10
            runs["more"] = [50] * (10 + more)
        before["gone"] = after["new"] = [10, 10]
        self.make("a.db", before)
        self.make("b.db", after)
        return before, after

    def rows(self, *arguments):
        return self.several(["a.db"], ["b.db"], *arguments)[1]

    def test_numbers__as_by_definition(self):
        before, after = self.make_both()
        rows = self.rows()
        self.assertEqual(set(rows), set(NAMES))
        for name in set(before) & set(after):
            a, b, row = before[name], after[name], rows[name]
            self.assertEqual((row["count"], row["total_ns"]), ([len(a), len(b)], [sum(a), sum(b)]))
            self.assertAlmostEqual(row["mean_change"], sum(b) / len(b) / (sum(a) / len(a)) - 1, places=5)

    def test_verdicts__of_one_run_each__only_where_no_times_overlap(self):
        self.make_both()
        verdicts = {name: row["verdict"] for name, row in self.rows().items()}
        self.assertNotEqual(verdicts.pop("noisy"), "slower")
        self.assertEqual(verdicts, {name: name for name in verdicts} | dict.fromkeys(("few", "tail", "disturbed"), "unsure"))
        self.assertEqual(self.rows("--least", "150")["slower"]["verdict"], "same")

    def test_text(self):
        self.make_both()
        text = self.rtl("diff", "a.db", "b.db").stdout
        self.assertRegex(text, r"(?m)^a.db -> b.db\n\(one run a side ")
        self.assertRegex(text, r"(?m)^GPU kernels: \S+ -> \S+ \(\+\d+\.\d%\)$")
        self.assertRegex(text, r"(?m)^ *\S+ +\+\S+ +300 +\+\d+\.\d% +\+\d+\.\d% +slower +slower$")
        self.assertRegex(text, r"(?m)^ *0ns +-20ns +2 -> 0 +gone +gone$")
        self.assertEqual(len(self.rtl("diff", "--top", "2", "a.db", "b.db").stdout.splitlines()), 10)

    def test_fail__status_tells(self):
        self.make_both()
        for percent, status in (("0", 3), ("5", 3), ("150", 0)):
            self.assertEqual(self.rtl("diff", "--fail", percent, "a.db", "b.db").returncode, status)
        self.assertEqual(self.rtl("diff", "--fail", "0", "a.db", "a.db").returncode, 0)
        self.assertEqual(self.rtl("diff", "a.db", "b.db").returncode, 0)

    def test_two_runs__that_vary_as_a_whole__are_not_called_different(self):
        """One run is steady and says nothing of how much the next one differs."""
        rng, names = random.Random(9), [f"k{i}" for i in range(6)]
        for _ in range(20):
            before, after = (self.make_runs(rng, side, 1, names, 0.08)[0] for side in "ab")
            status, rows = self.several(before, after, "--fail", "0")
            self.assertEqual((status, {row["verdict"] for row in rows.values()} - {"same", "unsure"}), (0, set()))

    def make_runs(self, rng, prefix, count, names, noise, factor={}, calls={}):
        """Runs whose kernels differ from run to run more than within one. Returns their files, and means by name."""
        files, means = [], {name: [] for name in names}
        for i in range(count):
            runs = {name: [round(rng.gauss(600, 6) * drift * factor.get(name, 1)) for _ in range(calls.get(name, 40))]
                    for name in names for drift in [rng.lognormvariate(0, noise)]}
            files.append(f"{prefix}{i}.db")
            self.make(files[-1], runs)
            for name, values in runs.items():
                means[name].append(statistics.mean(values))
        return files, means

    def several(self, before, after, *arguments):
        done = self.rtl("diff", "--json", *arguments, *before, "--", *after)
        section, = [s for s in json.loads(done.stdout)["sections"] if s["kind"] == "task"]
        return done.returncode, {row["name"]: row for row in section["rows"]}

    def test_runs__that_are_the_same__are_not_called_different(self):
        rng, names = random.Random(7), [f"k{i}" for i in range(30)]
        for noise in [0.01, 0.04, 0.2, 0.7] * 5:
            before, after = (self.make_runs(rng, side, 3, names, noise)[0] for side in "ab")
            status, rows = self.several(before, after, "--fail", "0")
            self.assertEqual((status, {row["verdict"] for row in rows.values()} - {"same", "unsure"}), (0, set()))

    def test_runs__that_differ__are(self):
        rng, names = random.Random(8), [f"k{i}" for i in range(5)]
        before, of_before = self.make_runs(rng, "a", 6, names, 0.04)
        after, of_after = self.make_runs(rng, "b", 6, names, 0.04, {"k1": 1.5, "k2": 0.6})
        status, rows = self.several(before, after, "--fail", "20")
        verdicts = {name: row["verdict"] for name, row in rows.items() if row["verdict"] not in ("same", "unsure")}
        self.assertEqual((status, verdicts), (3, {"k1": "slower", "k2": "faster"}))
        self.assertLess(abs(rows["k1"]["mean_change"] - 0.5), rows["k1"]["mean_margin"])
        for name, row in rows.items():
            self.assertAlmostEqual(row["confidence"], confidence(of_before[name], of_after[name]), places=7)
        self.assertEqual(rows["k1"]["count"], [40, 40])
        text = self.rtl("diff", "--only", "kernels", *before, "--", *after).stdout
        self.assertRegex(text, r"(?m)^a0.db .* a5.db -> b0.db .* b5.db$")
        self.assertRegex(text, r"(?m) \+\d+\.\d \+-\d+\.\d% .* slower  k1$")

    def test_three_runs__that_differ_by_a_fifth__are(self):
        rng, names, made = random.Random(6), [f"k{i}" for i in range(8)], ({"k1": 1.2}, {"k2": 41, "k3": 39})
        for _ in range(4):
            before, _ = self.make_runs(rng, "a", 3, names + ["gone"], 0.005)
            after = [file for name, more in (("b", []), ("c", []), ("d", ["once"]))
                     for file in self.make_runs(rng, name, 1, names + ["new"] + more, 0.005, *made)[0]]
            status, rows = self.several(before, after, "--fail", "0")
            self.assertEqual((status, {name: row["verdict"] for name, row in rows.items() if row["verdict"] != "same"}),
                             (3, {"k1": "slower", "k2": "more", "k3": "fewer", "new": "new", "gone": "gone",
                                  "once": "unsure"}))

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
