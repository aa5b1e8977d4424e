#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
The scripts with commands in place of cmake, ctest, clang-tidy and the like, which do as they are told.
scripts/test goes through all stages, whatever fails, and what it says at the end is right. The others
say what they found.
"""

import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest

SCRIPTS = os.environ["RTL_TEST_SCRIPTS"]

# Logs its arguments; fails where FAIL is among them.
COMMAND = """#!/bin/sh
echo "$(basename "$0") $*" >>"$LOG"
for word in $FAIL; do
  case "$(basename "$0") $*" in *"$word"*) echo "$word went wrong"; exit 1 ;; esac
done
"""

# Four tests: two pass, one is skipped, and one fails if BAD is among the arguments.
CTEST = COMMAND + """
case "$*" in *"$BAD"*) bad=1 ;; *) bad=0 ;; esac
while [ $# -gt 1 ]; do
  [ "$1" = --preset ] && preset=$2
  shift
done
mkdir -p "build/$preset/Testing/Temporary"
cat >"build/$preset/Testing/Temporary/LastTest.log" <<END
test_part (x.Y.test_part) ... skipped 'no room here'
test_told (x.Y.test_told)
It says what it is. ... skipped 'nor there'
[  SKIPPED ] test_c__odd__done
[  SKIPPED ] 1 test(s), listed below:
END
echo "    Start 1: good"
echo "1/4 Test #1: good ....   Passed    0.01 sec"
echo "words of the good one"
echo "    Start 2: odd"
echo "2/4 Test #2: odd .....***Skipped   0.01 sec"
if [ $bad = 1 ]; then
  echo "    Start 4: bad"
  echo "4/4 Test #4: bad .....***Failed    0.01 sec"
  echo "words of the bad one"
  echo "    Start 4: bad"
  echo "    Test #4: bad .....***Not Run    0.01 sec"
  echo "more of the bad one"
fi
printf "\\n66%% tests passed, $bad tests failed out of 4\\n\\n"
echo "The following tests did not run:"
printf '\\t  2 - odd (Skipped)\\n\\n'
[ $bad = 0 ] || printf 'The following tests FAILED:\\n\\t  4 - bad (Not Run)\\n'
exit $bad
"""


class Case(unittest.TestCase):
    """A folder with the script SCRIPT in it, and stand-ins for COMMANDS."""

    SCRIPT = ""
    COMMANDS = ()

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="rtl-scripts-")
        self.addCleanup(shutil.rmtree, self.folder)
        os.makedirs(self.path("scripts"))
        shutil.copy(os.path.join(SCRIPTS, self.SCRIPT), self.path("scripts"))
        for name in self.COMMANDS:
            self.command(name, CTEST if name == "bin/ctest" else COMMAND)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def command(self, name, text):
        self.write(name, text)
        os.chmod(self.path(name), 0o755)

    def run_script(self, *arguments, fail="nothing", bad="nothing", path=None):
        env = {**os.environ, "PATH": path or self.path("bin") + ":" + os.environ["PATH"],
               "LOG": self.path("log"), "FAIL": fail, "BAD": bad}
        return subprocess.run([self.path("scripts/" + self.SCRIPT), *arguments], env=env,
                              check=False, capture_output=True, text=True, timeout=60)

    def log(self):
        with open(self.path("log"), encoding="utf-8") as log:
            return log.read()


class Test(Case):
    SCRIPT = "test"
    COMMANDS = ("scripts/setup", "scripts/lint", "tests/rocm6/fetch", "tests/rocm7/fetch", "scripts/apps", "bin/cmake",
                "bin/ctest")

    def check(self, done, status, last):
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual(done.stdout.splitlines()[-1], last, done.stdout)
        self.assertEqual(done.stderr, "")

    def rows(self, done):
        """STAGE -> (RESULT, DETAILS) of the table at the end."""
        found = re.findall(r"(?m)^(\S.{25}) (passed|FAILED|skipped) +\d+ s *(.*)$", done.stdout)
        return {stage.strip(): (result, details) for stage, result, details in found}

    def test_all_is_well__counted(self):
        done = self.run_script()
        self.check(done, 0, "21 passed, 0 failed, 5 skipped")
        rows = self.rows(done)
        self.assertEqual(rows["tests"], ("passed", "3 passed, 0 failed, 1 skipped"))
        self.assertEqual(len(rows), 11, done.stdout)
        self.assertIn("\n  tests: odd\n", done.stdout)
        self.assertIn("\n  tests on ROCm 7: odd\n", done.stdout)
        for part in ("test_part: 'no room here'", "test_told: 'nor there'", "test_c__odd__done"):
            self.assertEqual(done.stdout.count(f"\n  tests (TSan): in part: {part}\n"), 1)
        self.assertNotIn("words of", done.stdout)

    def test_a_test_fails__the_rest_runs_and_it_is_shown(self):
        done = self.run_script(bad="dev --no-tests=error")
        self.check(done, 1, "18 passed, 3 failed, 5 skipped")
        self.assertEqual(self.rows(done)["tests"], ("FAILED", "2 passed, 1 failed, 1 skipped"))
        self.assertEqual(self.rows(done)["tests (TSan)"][0], "passed")
        self.assertIn("words of the bad one\n", done.stdout)
        self.assertIn("more of the bad one\n", done.stdout)
        self.assertNotIn("words of the good one\n", done.stdout)
        with open(self.path("build/test-logs/tests.log"), encoding="utf-8") as log:
            self.assertIn("words of the good one\n", log.read())

    def test_a_test_passes_alone__counted_and_said(self):
        beside = f"dev --no-tests=error -j {len(os.sched_getaffinity(0)) + 2} -LE"
        done = self.run_script(bad=beside)
        self.check(done, 0, "21 passed, 0 failed, 5 skipped")
        self.assertEqual(self.rows(done)["tests"], ("passed", "3 passed, 0 failed, 1 skipped, 1 of these only alone"))
        self.assertIn("failed beside other tests, and passed three times alone:\n  tests: bad\n", done.stdout)
        self.assertIn("words of the bad one\n", done.stdout)
        self.assertEqual(self.log().count("--rerun-failed --repeat until-fail:3\n"), 1)

    def test_sanitizer_reports__failed_at_once(self):
        stub = CTEST.replace("words of the bad one", "ThreadSanitizer: data race")
        self.command("bin/ctest", stub)
        done = self.run_script(bad=f"tsan --no-tests=error -j {len(os.sched_getaffinity(0)) + 3}")
        self.check(done, 1, "20 passed, 1 failed, 5 skipped")
        self.assertNotIn("--rerun-failed", self.log())

    def test_a_build_fails__its_tests_are_skipped_and_said_so(self):
        done = self.run_script(fail="asan-ubsan")
        self.check(done, 1, "17 passed, 1 failed, 5 skipped")
        rows = self.rows(done)
        self.assertEqual(rows["build (ASan, UBSan)"][0], "FAILED")
        self.assertEqual(rows["tests (ASan, UBSan)"],
                         ("skipped", "it was not built"))
        self.assertEqual(rows["tests (TSan)"][0], "passed")
        self.assertIn("asan-ubsan went wrong\n", done.stdout)

    def test_no_rocm__skipped_with_the_reason(self):
        done = self.run_script("quick", fail="fetch")
        self.check(done, 0, "6 passed, 0 failed, 4 skipped")
        for rocm in "67":
            self.assertEqual(self.rows(done)["tests on ROCm " + rocm], ("skipped", "fetch went wrong"))
            self.assertNotIn("-L rocm" + rocm, self.log())

    def test_quick__neither_clang_nor_sanitizers(self):
        done = self.run_script("quick")
        self.check(done, 0, "12 passed, 0 failed, 4 skipped")
        for word in ("clang", "asan", "tsan"):
            self.assertNotIn(word, self.log())
        self.assertIn(" -LE rocm6|rocm7|stress|slow\n", self.log())
        for rocm in "67":
            self.assertIn(f" -L rocm{rocm} -LE stress|slow\n", self.log())
        self.assertEqual(self.rows(done)["clang, sanitizers, slow"],
                         ("skipped", "not asked for (quick)"))

    def test_style_cannot_be_looked_at__skipped_with_the_reason(self):
        self.command("scripts/lint", "#!/bin/sh\necho there is no clang-format here >&2\nexit 77\n")
        done = self.run_script("quick")
        self.check(done, 0, "11 passed, 0 failed, 5 skipped")
        self.assertEqual(self.rows(done)["style"], ("skipped", "there is no clang-format here"))
        self.assertIn("\n  style: there is no clang-format here\n", done.stdout)


class Lint(Case):
    SCRIPT = "lint"
    COMMANDS = ("bin/cmake", "bin/clang-format", "bin/clang-tidy")

    def setUp(self):
        super().setUp()
        shutil.copy(os.path.join(SCRIPTS, "lint_docs.py"), self.path("scripts"))
        for name in ("core/a.c", "core/a.h", "cli/b.c", "tests/c.hip", "docs/examples/d.c"):
            self.write(name, "")
        for folder in ("include", "library", "streams", "subscribers"):
            os.makedirs(self.path(folder))
        self.write("build/dev/compile_commands.json", json.dumps(
            [{"file": self.path(name)} for name in ("core/a.c", "cli/b.c", "tests/c.c", "build/g.c")],
            indent=2))

    def test_all_is_well__each_file_looked_at(self):
        done = self.run_script()
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, "lint: 2 files looked at, nothing found\n", ""))
        formatted = re.findall(r"(?m)^clang-format .* (\w\S+) (\S+) (\S+) (\S+)$", self.log())
        self.assertEqual(formatted, [("cli/b.c", "core/a.c", "core/a.h", "tests/c.hip")])
        self.assertRegex(self.log(), r"(?m)^clang-tidy .* cli/b.c core/a.c$")

    def test_page_with_faults__each_named(self):
        self.write("docs/good.md", "# Good page: `a`\n\n[here](#good-page-a) [there](../docs/good.md#good-page-a)\n")
        self.assertEqual(self.run_script("docs").returncode, 0)
        self.write("docs/bad.md", "# Bad\n[gone](none.md) [place](good.md#none)\nThat makes no sense.\n\n    That makes no sense\n")
        done = self.run_script("docs")
        self.assertEqual((done.returncode, done.stdout.splitlines()), (1, [
            "docs/bad.md:2: there is no none.md", "docs/bad.md:2: good.md has no heading #none",
            'docs/bad.md:3: "makes no sense": write it in plain English']))
        self.assertEqual(self.run_script().returncode, 1)

    def test_not_formatted__said_with_what_to_do(self):
        done = self.run_script(fail="clang-format")
        self.assertEqual(done.returncode, 1)
        self.assertIn("lint: not formatted: scripts/lint fix\n", done.stderr)
        self.assertIn("clang-tidy", self.log())

    def test_no_tool__status_77(self):
        os.unlink(self.path("bin/clang-tidy"))
        for tool in ("dirname", "find", "sort", "xargs", "sed", "grep", "sh"):
            os.symlink(shutil.which(tool), self.path("bin/" + tool))
        done = self.run_script(path=self.path("bin"))
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (77, "", "there is no clang-tidy here: scripts/setup clang-tidy\n"))


class Fuzz(Case):
    SCRIPT = "fuzz"
    COMMANDS = ("bin/cmake", "scripts/setup")
    # Says what libFuzzer says; with BAD=crash it leaves an input that crashed.
    TARGET = """#!/bin/sh
echo "$(basename "$0") $*" >>"$LOG"
echo "#2 INITED cov: 7 ft: 8"
echo "#9 DONE cov: 12 ft: 20"
for word; do
  case $word in -artifact_prefix=*) prefix=${word#*=} ;; esac
done
if [ "$BAD" = crash ]; then
  : >"${prefix}crash-1"
  echo "==1==ERROR: AddressSanitizer: heap-buffer-overflow"
  exit 77
fi
echo "stat::number_of_executed_units: 4711"
"""

    def setUp(self):
        super().setUp()
        for target in ("spec", "spool"):
            self.write(f"build/corpus/{target}/seed", "")
            self.command(f"build/fuzz/bin/fuzz_{target}", self.TARGET)
        self.write("tests/fuzz/regressions/spool/old", "")
        with tarfile.open(self.path("tests/fuzz/corpus.tar.xz"), "w:xz") as packed:
            packed.add(self.path("build/corpus"), "corpus")

    def test_nothing_found__said_for_each(self):
        done = self.run_script("5")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(re.findall(r"(\w+) +4711 inputs, +12 edges reached, nothing found",
                                    done.stdout), ["spec", "spool"])
        self.assertRegex(self.log(), "fuzz_spool -max_total_time=5 .* build/fuzz/runs/spool "
                                     "build/fuzz/corpus/spool tests/fuzz/regressions/spool\n")

    def test_crash__shown_and_told_again_until_it_is_removed(self):
        done = self.run_script("1", "spec", bad="crash")
        self.assertEqual(done.returncode, 1)
        self.assertIn("FOUND: 1 in build/fuzz/runs/spec-found", done.stdout)
        self.assertIn("ERROR: AddressSanitizer: heap-buffer-overflow\n", done.stdout)
        self.assertEqual(self.run_script("1", "spec").returncode, 1)
        os.unlink(self.path("build/fuzz/runs/spec-found/crash-1"))
        self.assertEqual(self.run_script("1", "spec").returncode, 0)


if __name__ == "__main__":
    unittest.main()
