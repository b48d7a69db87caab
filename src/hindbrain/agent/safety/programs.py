"""Programs that run other programs, or code, which their words name. Tables; pure.

A rule with a wildcard for one of them is refused when it is read. The tables can't be whole, and need not be:
a wildcard stands only for what is known to be harmless (`harmless`).
"""

from __future__ import annotations

import re

# They run what their words say, or what lies in the folder they are called in.
_RUNNERS = frozenset({
    # shells, and what shells have built in
    "sh", "bash", "zsh", "dash", "ksh", "mksh", "fish", "ash", "csh", "tcsh", "rbash", "busybox",
    "toybox", "elvish", "nu", "xonsh", "cmd", "powershell", "pwsh", "wsl", "eval", "exec", "source",
    "command", "builtin", "alias",
    # wrappers
    "env", "nice", "ionice", "chrt", "taskset", "nohup", "setsid", "setpriv", "sudo", "sudoedit", "su",
    "doas", "pkexec", "runuser", "xargs", "parallel", "timeout", "time", "stdbuf", "unbuffer", "script",
    "scriptreplay", "expect", "watch", "entr", "watchexec", "nodemon", "chroot", "unshare", "nsenter",
    "bwrap", "firejail", "proot", "fakeroot", "flock", "start-stop-daemon", "systemd-run", "at", "batch",
    "crontab", "run-parts", "dbus-run-session", "dbus-send", "gdbus", "busctl", "xvfb-run", "caffeinate",
    "arch", "setarch", "linux32", "linux64", "catchsegv", "ld.so", "tini", "dumb-init", "s6-setuidgid",
    "gosu", "su-exec", "cpulimit", "prlimit", "numactl", "logsave", "choom", "capsh", "multitime",
    "hyperfine", "torsocks", "proxychains", "proxychains4", "direnv", "mise", "asdf", "nix-shell",
    "dotenv", "start", "open", "xdg-open", "rundll32", "regsvr32", "mshta", "wscript", "cscript", "wmic",
    "forfiles", "conhost", "msiexec", "certutil", "bitsadmin", "schtasks", "reg", "osascript",
    "launchctl", "automator",
    # interpreters
    "python", "pythonw", "py", "pypy", "ipython", "jupyter", "node", "nodejs", "deno", "bun", "bunx",
    "tsx", "ts-node", "perl", "ruby", "irb", "php", "lua", "luajit", "tclsh", "wish", "guile", "racket",
    "scheme", "sbcl", "clisp", "ghci", "runghc", "runhaskell", "ocaml", "julia", "r", "rscript", "octave",
    "scala", "groovy", "kotlin", "jshell", "java", "elixir", "iex", "erl", "escript", "swift", "dart",
    "gawk", "awk", "mawk", "nawk", "original-awk", "sed", "gsed", "ed", "ex", "m4", "bc", "dc", "sqlite3",
    "psql", "mysql", "mariadb", "mongosh", "redis-cli", "duckdb", "gnuplot", "gdb", "lldb", "strace",
    "ltrace", "valgrind", "perf", "rr", "dtrace", "bpftrace", "qemu", "wine",
    # editors and pagers
    "vi", "vim", "nvim", "view", "rvim", "vimdiff", "emacs", "emacsclient", "nano", "pico", "micro", "hx",
    "code", "subl", "less", "more", "most", "lesspipe", "screen", "tmux", "zellij", "mc", "ranger",
    # builders, packages, tests: they run what the folder holds
    "make", "gmake", "bmake", "cmake", "ctest", "ninja", "meson", "scons", "bazel", "buck", "ant", "mvn",
    "mvnw", "gradle", "gradlew", "sbt", "rake", "just", "task", "invoke", "tox", "nox", "pre-commit",
    "npm", "npx", "pnpm", "pnpx", "yarn", "corepack", "grunt", "gulp", "turbo", "nx", "lerna", "vite",
    "webpack", "jest", "vitest", "mocha", "playwright", "pip", "pipx", "uv", "uvx", "poetry", "pdm",
    "hatch", "rye", "conda", "mamba", "micromamba", "pixi", "easy_install", "pytest", "gem", "bundle",
    "bundler", "cargo", "rustup", "rustc", "go", "gofmt", "composer", "mix", "rebar3", "stack", "cabal",
    "opam", "dune", "nix", "guix", "brew", "port", "apt", "apt-get", "aptitude", "dpkg", "yum", "dnf",
    "rpm", "pacman", "zypper", "apk", "snap", "flatpak", "winget", "choco", "scoop", "gcc", "cc", "clang",
    "g++", "c++", "ld", "as", "ansible", "ansible-playbook", "terraform", "tofu", "pulumi", "vagrant",
    "packer", "puppet", "chef",
    # elsewhere
    "ssh", "mosh", "autossh", "sshpass", "scp", "sftp", "rsh", "telnet", "nc", "ncat", "netcat", "socat",
    "docker", "podman", "nerdctl", "buildah", "lxc", "incus", "machinectl", "kubectl", "helm", "oc",
    "minikube", "gcloud", "aws", "az", "heroku", "fly", "flyctl", "gh", "glab", "hub", "svn", "hg",
    "fossil", "cvs", "bzr",
    # words without a dash that make them run or write something
    "tar", "bsdtar", "gtar", "zip", "7z", "7za", "cpio", "rsync", "unison", "rclone", "restic", "borg",
    "install", "dd", "ip", "iptables", "systemctl", "service", "loginctl", "mount", "umount", "insmod",
    "modprobe", "nmap", "tcpdump", "ffmpeg", "convert", "magick", "latex", "pdflatex", "xelatex",
    "lualatex", "tex", "gs", "pandoc", "exiftool", "claude", "codex", "gemini", "openclaw", "aider",
    "goose", "hindbrain", "hindbrain-hook",
})  # fmt: skip

# Verbs of git that run what their words, or a repository's settings, say. Without a verb nothing is known.
_GIT_RUNS = frozenset({
    "bisect", "submodule", "config", "difftool", "mergetool", "filter-branch", "hook", "rebase",
    "instaweb", "help", "web--browse", "maintenance", "daemon", "send-email", "svn", "p4", "cvsimport",
    "remote", "clone", "archive", "alias", "credential", "shell", "upload-pack", "receive-pack",
    "remote-ext", "remote-fd", "gui", "citool", "bugreport", "var", "worktree", "init", "am", "apply",
    "update-index", "fast-import", "for-each-repo", "lfs", "annex", "flow", "scalar",
})  # fmt: skip

_VERSIONED = re.compile(r"(?P<name>.*?[^\d.-])-?[\d.]*")  # python3.12, clang-17, lua5.4
_PREFIXED = re.compile(r"(?:[a-z0-9_]+-)+(?P<name>gcc|g\+\+|ld|as|clang)")  # x86_64-linux-gnu-gcc
_SUFFIXES = (".exe", ".com", ".cmd", ".bat", ".ps1")


def plain_name(program: str) -> str:
    """What a program is called, without its folder, capitals and the ending that Windows lets one drop."""
    name = program.replace("\\", "/").rpartition("/")[2].casefold().rstrip(". ")
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    return name


def is_runner(program: str) -> bool:
    name = plain_name(program)
    if name in _RUNNERS or program.casefold().endswith((".bat", ".cmd", ".ps1", ".sh")):
        return True
    if match := _PREFIXED.fullmatch(name):
        name = match["name"]
    match = _VERSIONED.fullmatch(name)
    return match is not None and match["name"] in _RUNNERS


def why_no_wildcard(words: tuple[str, ...]) -> str:
    """Why a rule that begins with these words can't end in a wildcard; "" when it can."""
    name = plain_name(words[0])
    if is_runner(words[0]):
        return f"{name!r} runs other programs or code that its words name"
    if name == "git" and (len(words) < 2 or words[1] in _GIT_RUNS or words[1].startswith("-")):
        said = " ".join(words[:2])
        return f"{said!r} runs what its words, or the settings of a repository, say"
    return ""
