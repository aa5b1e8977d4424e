#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
server.py: a ClickHouse server of the distribution for tests: its own folder, its own ports on
loopback, its own configuration; ended by its pid.

    server.py COMMAND [ARGUMENT]...     starts one, runs the command with RTL_CLICKHOUSE_PORT set to
                                        the port of its HTTP interface, ends it
"""

import base64
import ctypes
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

CONFIG = """<?xml version="1.0"?>
<yandex>
  <logger><level>warning</level><log>{folder}/log</log><errorlog>{folder}/errors</errorlog></logger>
  <listen_host>127.0.0.1</listen_host>
  <http_port>{port}</http_port>
  <tcp_port>{tcp_port}</tcp_port>
  {tls}
  <path>{data}/</path>
  <tmp_path>{data}/tmp/</tmp_path>
  <users_config>{folder}/users.xml</users_config>
  <default_profile>default</default_profile>
  <default_database>default</default_database>
  <mark_cache_size>67108864</mark_cache_size>
  <timezone>UTC</timezone>
</yandex>
"""
TLS = """<https_port>{port}</https_port>
  <openSSL><server>
    <certificateFile>{folder}/server.crt</certificateFile>
    <privateKeyFile>{folder}/server.key</privateKeyFile>
    <verificationMode>none</verificationMode>
  </server></openSSL>"""
USERS = """<?xml version="1.0"?>
<yandex>
  <profiles><default/><readonly><readonly>1</readonly></readonly></profiles>
  <users>
    <default><password></password><networks><ip>127.0.0.1</ip></networks>
      <profile>default</profile><quota>default</quota></default>
    <rtl><password>se'cret/1</password><networks><ip>127.0.0.1</ip></networks>
      <profile>default</profile><quota>default</quota></rtl>
    <reader><password></password><networks><ip>127.0.0.1</ip></networks>
      <profile>readonly</profile><quota>default</quota></reader>
  </users>
  <quotas><default/></quotas>
</yandex>
"""
HANG_S = 120


def executable():
    """Where the server is, NULL if it is not installed: the distribution's, or a newer one's."""
    return shutil.which("clickhouse-server", path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin")


def die_with_us():
    """PR_SET_PDEATHSIG: nothing is left of a test that is killed."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    def __init__(self, tls=False, disk_bytes=0):
        self.folder = tempfile.mkdtemp(prefix="rtl-clickhouse-")
        self.port, self.tcp_port, self.tls_port = free_port(), free_port(), free_port() if tls else 0
        self.process = None
        self.disk_bytes = disk_bytes
        self.data = os.path.join(self.folder, "data")
        os.mkdir(self.data)
        if tls:
            self.make_certificate()
        part = TLS.format(port=self.tls_port, folder=self.folder) if tls else ""
        self.write("config.xml", CONFIG.format(folder=self.folder, data=self.data, port=self.port,
                                               tcp_port=self.tcp_port, tls=part))
        self.write("users.xml", USERS)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def make_certificate(self):
        self.ca = os.path.join(self.folder, "server.crt")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                        "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout",
                        os.path.join(self.folder, "server.key"), "-out", self.ca],
                       check=True, capture_output=True)

    def start(self, wait=True):
        command = [executable(), f"--config-file={self.folder}/config.xml"]
        if self.disk_bytes:  # a disk of its own, which is soon full
            command = ["unshare", "-rm", "sh", "-c", f"mount -t tmpfs -o size={self.disk_bytes} none "
                       f"'{self.data}' && mkdir '{self.data}/tmp' && exec \"$@\"", "sh", *command]
        with open(os.path.join(self.folder, "out"), "ab") as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True,
                                            stdin=subprocess.DEVNULL, cwd=self.folder,
                                            preexec_fn=die_with_us)
        if wait:
            self.await_answer()

    def await_answer(self):
        end = time.monotonic() + HANG_S
        while True:
            try:
                if self.ask("SELECT 1") == "1\n" and self.shakes_hands():
                    return
            except OSError:
                pass
            if self.process.poll() is not None or time.monotonic() > end:
                with open(os.path.join(self.folder, "out"), encoding="utf-8", errors="replace") as file:
                    raise AssertionError(f"the server does not start: {file.read()}")
            time.sleep(0.05)

    def shakes_hands(self):
        """Over TLS, if it has that: the first time takes longest."""
        if self.tls_port:
            context = ssl.create_default_context(cafile=self.ca)
            with socket.create_connection(("127.0.0.1", self.tls_port), timeout=HANG_S) as plain:
                context.wrap_socket(plain, server_hostname="localhost").close()
        return True

    def stop(self, number=signal.SIGTERM):
        if self.process:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(number)
            self.process.wait()
        self.process = None

    def filler(self):
        """In the disk that only the server sees."""
        return f"/proc/{self.process.pid}/root{self.data}/filler"

    def fill_disk(self):
        with open(self.filler(), "wb", buffering=0) as file:
            for size in (1 << 16, 1 << 12, 1):
                try:
                    while True:
                        file.write(bytes(size))
                except OSError:
                    pass

    def empty_disk(self):
        os.unlink(self.filler())

    def kill(self):
        self.stop(signal.SIGKILL)

    def send_signal(self, number):
        self.process.send_signal(number)

    def remove(self):
        self.kill()
        shutil.rmtree(self.folder)

    def ask(self, statement, database="default", user="default", password=""):
        url = f"http://127.0.0.1:{self.port}/?database={urllib.parse.quote(database)}"
        request = urllib.request.Request(url, statement.encode())
        secret = base64.b64encode(f"{user}:{password}".encode()).decode()
        request.add_header("Authorization", f"Basic {secret}")
        try:
            with urllib.request.urlopen(request, timeout=HANG_S) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{statement}: {error.read().decode(errors='replace')}") from error

    def rows(self, statement, **more):
        return [tuple(line.split("\t")) for line in self.ask(statement, **more).splitlines()]


def main(arguments):
    if not executable():
        print("skipped: clickhouse-server is not installed")
        return 77
    server = Server()
    try:
        server.start()
        return subprocess.run(arguments, check=False, env={**os.environ, "RTL_CLICKHOUSE_PORT": str(server.port)}
                              ).returncode
    finally:
        server.remove()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
