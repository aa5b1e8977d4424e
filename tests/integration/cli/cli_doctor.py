#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`rtl doctor`: on set-ups that are broken in one way each."""

import json
import os
import shutil
import signal
import stat
import struct
import subprocess
import unittest

from cli_kit import (Case, CLEAN, DEFAULT_MODE, HANG_S, PLUGINS, PROGRAM, RTL, TMPFS)

NAMESPACE = ["unshare", "-m"] if os.getuid() == 0 else ["unshare", "-rm"]


class DoctorCase(Case):
    def examine(self, *arguments, env=None, before=(), cwd=None):
        """Its checks, as (level, text, remedy) by name; the exit status fits them."""
        done = subprocess.run([*before, RTL, "doctor", "--json", *arguments],
                              cwd=cwd or self.folder, env=self.environment(env), text=True,
                              capture_output=True, timeout=HANG_S, check=False)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.report = json.loads(done.stdout)
        faults = [c for c in self.report["checks"] if c["level"] == "fault"]
        self.assertEqual(self.report["faults"], len(faults))
        self.assertEqual(done.returncode, 1 if faults else 0, done.stdout)
        for check in self.report["checks"]:
            self.assertEqual(bool(check["remedy"]), check["level"] != "ok", check)
        checks = {}
        for check in self.report["checks"]:
            checks.setdefault(check["check"], []).append(
                (check["level"], check["text"], check["remedy"]))
        return checks

    def said(self, checks, name, level, part):
        """The remedy of the one that has that part."""
        for found, text, remedy in checks.get(name, []):
            if found == level and part in text:
                return remedy
        self.fail(f"no {level} of {name} with '{part}': {json.dumps(checks, indent=1)}")


class Doctor(DoctorCase):
    def test_arguments__refused(self):
        self.refused(2, "unexpected argument 'app': a command to run stands behind --", "doctor", "app")
        self.refused(127, "cannot run", "doctor", "--", "./nosuch")

    def test_text__one_line_each_and_a_sum(self):
        done = self.rtl("doctor", env={"RTL_STREAMS": "a b\x1b"})
        lines = done.stdout.splitlines()
        self.assertIn("libraries", lines)
        self.assertTrue(all(line.split()[0] in ("ok", "warning", "fault")
                            for line in lines if line.startswith("  ")))
        self.assertRegex(lines[-1], r"^\d+ faults?, \d+ warnings?$")
        self.assertNotIn("\x1b", done.stdout)
        self.assertIn("  warning  RTL_STREAMS=", done.stdout)

    def test_program_that_publishes__is_counted(self):
        checks = self.examine("--", PROGRAM, "10")
        self.said(checks, "hsa_tool", "ok", "loaded by its HSA runtime")
        self.said(checks, "dispatches", "ok", "dispatches: ")
        process, = self.report["processes"]
        self.assertTrue(process["hsa_tool"])
        self.assertGreater(process["dispatches"], 0)

    def test_program_that_publishes_nothing__is_said(self):
        checks = self.examine("--", "true")
        self.said(checks, "command", "fault", "no process of the command published anything")
        self.assertEqual(self.report["processes"], [])

    def test_commands_output__goes_to_stderr(self):
        done = self.rtl("doctor", "--json", "--", "sh", "-c", "echo hello; exit 7")
        self.assertIn("hello", done.stderr)
        self.assertIn("the command ended with status 7",
                      [c["text"] for c in json.loads(done.stdout)["checks"]])

    def test_unknown_mode__is_said(self):
        checks = self.examine("--", PROGRAM, "10", env={"RTL_MODE": "most"})
        self.said(checks, "mode", "fault", "cannot be prepared")
        self.said(checks, "command", "warning", "was not run")

    def test_subscriber_missing__is_said(self):
        checks = self.examine(env={"RTL_SUBSCRIBERS": "libnope_sub.so"})
        remedy = self.said(checks, "subscriber", "fault", "'libnope_sub.so' not found")
        self.assertIn("RTL_PLUGIN_PATH", remedy)
        self.said(checks, "environment", "warning", "HSA_TOOLS_LIB does not name rtl")

    def test_subscriber_of_another_version__is_said(self):
        plugin = os.path.join(PLUGINS, "libmajor_sub.so")
        checks = self.examine(env={"RTL_SUBSCRIBERS": plugin})
        self.said(checks, "subscriber", "fault", "libmajor_sub.so")

    def test_other_project_of_that_name_first__is_said(self):
        self.write("rtl", "#!/bin/sh\n")
        os.chmod(self.path("rtl"), 0o755)
        self.write("librtl.so", "of rocm-trace-lite")
        folder = os.path.join(self.spool, "other")
        os.mkdir(folder)  # without a blank in its name: HSA_TOOLS_LIB is a list
        self.addCleanup(shutil.rmtree, folder)
        shutil.copy(self.path("librtl.so"), folder)
        checks = self.examine(env={
            "PATH": self.folder + ":" + CLEAN["PATH"], "LD_LIBRARY_PATH": folder,
            "HSA_TOOLS_LIB": f"{folder}/librtl.so {folder}/libgone.so"})
        self.said(checks, "path", "warning", "of another project: " + self.path("rtl"))
        self.said(checks, "loader", "fault", "LD_LIBRARY_PATH finds a library of another project")
        self.said(checks, "tools", "fault", "librtl.so, which is not a tool of this project")
        self.said(checks, "tools", "fault", "libgone.so, which cannot be read: No such file")

    def test_spool_folder_missing__is_said(self):
        checks = self.examine("--", PROGRAM, "10", env={"RTL_SPOOL": self.path("nosuch")})
        self.said(checks, "spool", "fault", "nosuch: No such file or directory")
        self.said(checks, "command", "warning", "was not run")

    @unittest.skipUnless(TMPFS, "no file system can be mounted here")
    def test_spool_folder_full__is_said(self):
        full = "mount -t tmpfs -o size=2m none /mnt && RTL_SPOOL=/mnt exec \"$@\""
        checks = self.examine(before=[*NAMESPACE, "sh", "-c", full, "sh"])
        self.assertIn("RTL_SPOOL", self.said(checks, "spool", "fault", "/mnt"))

    @unittest.skipUnless(TMPFS, "no file system can be mounted here")
    def test_device_not_permitted__is_said(self):
        hidden = ("mount -t tmpfs none /mnt && mkdir /mnt/dri && touch /mnt/kfd "
                  "/mnt/dri/renderD128 && chmod 0 /mnt/kfd && mount --bind /mnt /dev && "
                  "exec setpriv --bounding-set=-dac_override,-dac_read_search "
                  "--inh-caps=-dac_override,-dac_read_search \"$@\"")
        checks = self.examine(before=[*NAMESPACE, "sh", "-c", hidden, "sh"],
                              env={"RTL_SPOOL": self.folder})
        self.said(checks, "device", "fault", "/dev/kfd: Permission denied")

    @unittest.skipIf(os.path.exists("/dev/kfd"), "there is a GPU")
    def test_no_device__is_said(self):
        remedy = self.said(self.examine(), "device", "fault", "no /dev/kfd")
        self.assertIn("--device=/dev/kfd", remedy)

    def test_limits__are_said(self):
        checks = self.examine(before=["sh", "-c", "ulimit -n 40; ulimit -f 100; exec \"$@\"", "sh"])
        self.said(checks, "file_size", "fault", "files may not grow beyond")
        self.said(checks, "files", "warning", "only 40 files")

    @unittest.skipUnless(os.getuid() == 0, "only root makes programs of other users")
    def test_set_user_id__is_said(self):
        program = self.path("program")
        shutil.copy(PROGRAM, program)
        os.chown(program, 65534, 65534)
        os.chmod(program, 0o755 | stat.S_ISUID)
        checks = self.examine("--", program, "10")
        self.said(checks, "program", "fault", "runs with privileges of its own")
        self.said(checks, "command", "fault", "no process of the command published anything")

    def make_32_bits(self, program, code):
        base, size = 0x8048000, 52 + 32 + len(code)
        head = struct.pack("<4s5B7xHHIIIIIHHHHHH", b"\x7fELF", 1, 1, 1, 0, 0, 2, 3, 1,
                           base + 84, 52, 0, 0, 52, 32, 1, 0, 0, 0)
        part = struct.pack("<8I", 1, 0, base, base, size, size, 5, 4096)
        with open(program, "wb") as file:
            file.write(head + part + code)
        os.chmod(program, 0o755)
        try:
            subprocess.run([program], timeout=0.2, check=False)
        except subprocess.TimeoutExpired:
            pass
        except OSError as error:
            self.skipTest(f"this machine runs no programs for 32 bits: {error}")

    def test_program_for_32_bits__is_said(self):
        program = self.path("program")
        self.make_32_bits(program, b"\xb8\x01\x00\x00\x00\x31\xdb\xcd\x80")  # exit(0)
        checks = self.examine("--", program, "10")
        self.said(checks, "program", "fault", "is a program for 32 bits")

    def test_static_program__is_said(self):
        self.write("a.c", "int main(void) { return 0; }")
        if not shutil.which("gcc") or subprocess.run(
                ["gcc", "-static", "a.c", "-o", "a"], cwd=self.folder, check=False,
                capture_output=True).returncode:
            self.skipTest("no static program can be built here")
        checks = self.examine("--", self.path("a"))
        self.said(checks, "program", "warning", "is linked statically")

    def test_damaged_programs__no_crash(self):
        with open(PROGRAM, "rb") as file:
            whole = file.read(4096)
        for size in (3, 20, 60, 64, 100):
            with open(self.path("program"), "wb") as file:
                file.write(whole[:size])
            os.chmod(self.path("program"), 0o755)
            # what the loader or a shell says of it may be any bytes
            done = self.rtl("doctor", "--", self.path("program"), errors="replace")
            self.assertIn(done.returncode, (0, 1, 126), done.stderr)

    def test_interrupted__ends(self):
        process = self.start("doctor", "--", "sh", "-c", "echo up >&2; exec sleep 60")
        self.assertIn("up", process.stderr.readline())
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=HANG_S)
        self.assertIn("the command ended by a signal", out)


class Gpu(DoctorCase):
    """On the software GPU. RTL_TEST_RUNNER runs a command there."""

    def setUp(self):
        super().setUp()
        self.runner = os.environ["RTL_TEST_RUNNER"]
        self.build = os.environ["RTL_TEST_BUILD"]
        self.program = os.path.join(self.build, "tests/programs/vector_add")
        self.here = {"RTL_BUILD_DIR": self.build}

    def test_all_well__status_0(self):
        checks = self.examine("--", self.program, before=[self.runner], env=self.here)
        self.said(checks, "gpu", "ok", "1 GPU: gfx906")
        self.said(checks, "hsa_tool", "ok", "the HSA runtime loads rtl")
        self.said(checks, "version", "ok", "ROCm 5.2")
        process, = self.report["processes"]
        self.assertEqual((process["dispatches"], process["copies"]), (10, 3))
        if DEFAULT_MODE == "hip":
            self.assertEqual(process["hip_calls"], 21)

    def test_gpu_in_the_command_only__is_no_fault(self):
        checks = self.examine("--", self.runner, self.program, env=self.here)
        self.said(checks, "dispatches", "ok", "dispatches: 10")

    @unittest.skipIf(DEFAULT_MODE != "hip", "needs mode hip")
    def test_tool_skipped__is_said(self):
        checks = self.examine("--", "env", "-u", "HSA_TOOLS_LIB", self.program,
                              before=[self.runner], env=self.here)
        remedy = self.said(checks, "hsa_tool", "fault", "its HSA runtime has not loaded rtl")
        self.assertIn("HSA_TOOLS_LIB", remedy)
        self.said(checks, "dispatches", "warning", "no dispatch")

    @unittest.skipUnless(TMPFS, "no file system can be mounted here")
    def test_no_runtime__is_said(self):
        checks = self.examine()
        path = checks["hsa_runtime"][0][1].split(": ")[1]
        hidden = "mount --bind /dev/null \"$0\" && exec \"$@\""
        checks = self.examine(before=[*NAMESPACE, "sh", "-c", hidden, path])
        self.said(checks, "hsa_runtime", "fault", "no HSA runtime: ")

    def test_runtime_that_crashes__is_said(self):
        self.write("crash.c", "#include <stdlib.h>\nint hsakmt_crash; __attribute__((visibility(\"default\")))"
                   "int hsaKmtOpenKFD(void) { abort(); }\n")
        if not shutil.which("gcc") or subprocess.run(
                ["gcc", "-shared", "-fPIC", "crash.c", "-o", "crash.so"], cwd=self.folder,
                check=False).returncode:
            self.skipTest("no library can be built here")
        shutil.copy(self.path("crash.so"), self.spool)
        self.addCleanup(os.unlink, self.spool + "/crash.so")
        checks = self.examine(before=[self.runner, "env", f"LD_PRELOAD={self.spool}/crash.so"],
                              env=self.here)
        self.said(checks, "probe", "fault", "the runtime crashes when it starts: Aborted")


class Rocm7(DoctorCase):
    def test_version_with_a_known_fault__is_said(self):
        runner, build = os.environ["RTL_TEST_RUNNER"], os.environ["RTL_TEST_BUILD"]
        fetch = os.path.join(os.path.dirname(runner), "fetch")
        if subprocess.run([fetch, "--check"], check=False).returncode:
            raise SystemExit(77)
        root = subprocess.run([fetch, "--dir"], check=True, capture_output=True, text=True).stdout
        libs = os.path.join(root.strip(), "x/usr/lib/x86_64-linux-gnu")
        # rtl with the fetched loader, so that it finds that runtime.
        checks = self.examine(
            before=[runner, "env", f"{libs}/ld-linux-x86-64.so.2", "--library-path",
                    f"{libs}:{build}/lib"], env={"RTL_BUILD_DIR": build})
        self.said(checks, "version", "warning", "ROCm 7.2 has a fault in its intercept queues")
        self.said(checks, "hsa_tool", "ok", "the HSA runtime loads rtl")


if __name__ == "__main__":
    unittest.main()
