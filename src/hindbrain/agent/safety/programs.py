"""Programs that run other programs, or code, which their words name. Tables; pure.

What stands here is never allowed by a wildcard of a rule. The tables can't be whole, and need not be: what no
rule of the owner names is asked about anyway.
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

# Options that run or write something, of programs that else only show. Short ones as letters.
_RISKY: dict[str, tuple[tuple[str, ...], str]] = {
    "git": (
        (
            "--exec-path",
            "--upload-pack",
            "--receive-pack",
            "--config-env",
            "--output",
            "--open-files-in-pager",
            "--ext-diff",
            "--textconv",
            "--paginate",
            "--git-dir",
            "--work-tree",
            "--exec",
            "--template",
            "--no-index",
            "--contents",
            "--file",
            "--pathspec-from-file",
            "--namespace",
            "--super-prefix",
            "--attr-source",
        ),
        "OF",
    ),
    "find": (
        (
            "-exec",
            "-execdir",
            "-ok",
            "-okdir",
            "-delete",
            "-fprint",
            "-fprint0",
            "-fprintf",
            "-fls",
            "-files0-from",
        ),
        "",
    ),
    "fd": (("--exec", "--exec-batch"), "xX"),
    "rg": (("--pre", "--hostname-bin", "--search-zip"), "z"),
    "ag": (("--pager",), ""),
    "ack": (("--pager", "--output"), ""),
    "sort": (("--output", "--compress-program", "--files0-from", "--temporary-directory"), "oT"),
    "man": (("--pager", "--html", "--preprocessor", "--config-file", "--troff-device"), "PHpC"),
    "curl": (
        (
            "--output",
            "--remote-name",
            "--config",
            "--upload-file",
            "--data",
            "--form",
            "--netrc-file",
            "--dump-header",
            "--trace",
            "--cookie-jar",
            "--stderr",
            "--engine",
            "--unix-socket",
            "--proxy",
            "--json",
            "--write-out",
        ),
        "oOKTdFDcEx",
    ),
    "wget": (
        (
            "--use-askpass",
            "--output-document",
            "--post-file",
            "--body-file",
            "--execute",
            "--config",
            "--output-file",
            "--input-file",
            "--directory-prefix",
        ),
        "OoaeiP",
    ),
    "date": (("--set", "--file"), "sf"),
    "tree": (("--output",), "oR"),
    "jq": (("--from-file", "--rawfile", "--slurpfile", "--argfile", "--library-path"), "fL"),
    "diff": (("--to-file", "--from-file"), ""),
    "split": (("--filter",), ""),
    "shuf": (("--output", "--random-source"), "o"),
    "wc": (("--files0-from",), ""),
    "du": (("--files0-from", "--exclude-from"), "X"),
    "grep": (("--file", "--exclude-from"), "f"),
    "file": (("--magic-file", "--files-from", "--compile", "--uncompress"), "mfCzZ"),
    "xz": (("--files", "--files0"), ""),
}

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


def is_risky(program: str, word: str) -> bool:
    """Is the word an option with which the program runs or writes something?"""
    long, short = _RISKY.get(plain_name(program), ((), ""))
    name = word.partition("=")[0]
    if name.startswith("--") or (long and long[0].startswith("-") and not long[0].startswith("--")):
        # GNU programs take an option by its first letters, too.
        return len(name.lstrip("-")) > 0 and any(option.startswith(name) for option in long)
    return name.startswith("-") and any(letter in name[1:] for letter in short)
