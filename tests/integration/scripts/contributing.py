#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
contributing.py SOURCE: follows docs/new-stream.md in a copy of the tree, as it stands there. A block with
file=PATH is written to that file, a diff is applied, commands are run, and what is shown after commands is what
they print. It ends with one commit that has everything. The rtl that it builds is one without the interceptors
for ROCm; the examples are run with that as well (../install/examples.py).
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```(\w*)(?: file=(\S+))?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NOT_COPIED = {"build", ".git"}
NAME = {"GIT_AUTHOR_NAME": "newcomer", "GIT_AUTHOR_EMAIL": "newcomer@localhost",
        "GIT_COMMITTER_NAME": "newcomer", "GIT_COMMITTER_EMAIL": "newcomer@localhost"}


class Wrong(Exception):
    """A step that did not do what the text says."""


class Exercise:
    def __init__(self, source, folder):
        self.folder = pathlib.Path(folder) / "rtl"
        shutil.copytree(source, self.folder, symlinks=True,
                        ignore=lambda path, _: NOT_COPIED if path == source else ())
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("RTL_", "GIT_"))}
        self.env |= NAME
        self.touched = set()
        self.run("git init -q; git add -A; git commit -qm base")

    def run(self, script, **more):
        done = subprocess.run(["sh", "-euc", script], cwd=self.folder, env=self.env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **more)
        if done.returncode:
            # what a ctest of the exercise printed is not to be taken for that of this one
            raise Wrong(f"{script}\n" + re.sub("(?m)^", "| ", done.stdout))
        return done.stdout

    def follow(self, text):
        printed = ""
        for kind, path, body in BLOCK.findall(text):
            if path:
                self.write(path, body)
            elif kind == "diff":
                self.run("git apply -C1 -", input=body)
                self.touched |= set(re.findall(r"^\+\+\+ b/(\S+)", body, re.MULTILINE))
            elif kind == "sh":
                printed = self.run(body)
            elif kind == "text":
                if printed != body:
                    raise Wrong(f"printed:\n{printed}\nshown in the text:\n{body}")
            else:
                raise Wrong(f"a block of no known kind:\n{body}")

    def write(self, path, body):
        file = self.folder / path
        if file.exists():
            raise Wrong(f"{path} is there already")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(body, encoding="utf-8")
        self.touched.add(path)

    def check_commit(self):
        files = set(self.run("git diff --name-only HEAD~1 HEAD").split())
        if files != self.touched:
            raise Wrong(f"the commit has {sorted(files)}")
        if self.run("git status --porcelain; git rev-list --count HEAD") != "2\n":
            raise Wrong("there is more than one commit, or less")

    def check_format(self):
        c_files = [path for path in self.touched if path.endswith(".c")]
        if shutil.which("clang-format"):
            self.run("clang-format --dry-run -Werror " + " ".join(c_files))

    def run_examples(self):
        self.run("cmake -DBUILD_TESTING=OFF build/dev >build/log; cmake --build build/dev >build/log; RTL_BUILD_DIR="
                 f"build/dev RTL_CC=cc RTL_CXX=c++ '{sys.executable}' -B tests/integration/install/examples.py NoRocm")


def main(source):
    if sys.version_info < (3, 11) or not shutil.which("git"):
        print("SKIPPED: needs git, and Python 3.11 (tomllib)")
        return 77
    text = pathlib.Path(source, "docs/new-stream.md").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="rtl-exercise-") as folder:
        try:
            exercise = Exercise(source, folder)
            exercise.follow(text)
            exercise.check_commit()
            exercise.check_format()
            exercise.run_examples()
        except Wrong as error:
            print(f"docs/new-stream.md: {error}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
