"""Programs that only show something, and the words with which they do no more than that. Tables; pure.

A wildcard of a rule stands for nothing else. A program, an option or an operand that is missing here is asked
about: it may follow links out of the workspace, write a file, call an address or run another program.
Options are named whole; GNU programs take abbreviations too, and those are asked about.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hindbrain.agent.safety.programs import plain_name

_NUMBERS = "0123456789"


class Grammar(NamedTuple):
    """What a program may be given. Operands are names in the workspace, see `shell_policy`."""

    letters: str = ""  # short options
    valued: str = ""  # short options that take a value, in the same word or as the next one
    long: frozenset[str] = frozenset()  # without dashes; a value may stand behind "="
    operands: int = 1_000  # at most so many names, values of options counted
    also: str = ""  # a pattern of operands that are no names
    files_only: bool = False  # no operand is a folder: the program would follow links in it
    single_dash: bool = False  # long options have one dash, as those of find

    def takes_option(self, word: str) -> bool:
        """`word` begins with a dash."""
        if word == "--":
            return True
        if self.single_dash:
            return word[1:] in self.long
        if word.startswith("--"):
            return word[2:].partition("=")[0] in self.long
        for letter in word[1:]:
            if letter in self.valued:
                return True
            if letter not in self.letters:
                return False
        return len(word) > 1

    def takes_as_is(self, word: str) -> bool:
        """Is it a number, a format or the like, whatever it begins with?"""
        return bool(self.also) and re.fullmatch(self.also, word) is not None

    def takes_all(self, words: Sequence[str]) -> bool:
        """May it be given all these options, and so many operands?"""
        rest = [word for word in words if not self.takes_as_is(word)]
        options = [word for word in rest if word.startswith("-")]
        return len(rest) - len(options) <= self.operands and all(map(self.takes_option, options))


def grammar_of(argv: Sequence[str]) -> tuple[Grammar, int] | None:
    """The grammar for a command, and how many of its words name what it does; None for an unknown one."""
    named = (plain_name(argv[0]), *argv[1:3])
    for size in (3, 2, 1):
        if len(named) >= size and (found := _GRAMMARS.get(named[:size])):
            return found, size
    return None


def _long(names: str) -> frozenset[str]:
    return frozenset(names.split())


# `--show-signature` is missing on purpose: it runs gpg. So are `--output`, `--ext-diff`, `--textconv`, `-O`.
_GIT_LOG = Grammar(
    "pswbuzigM" + _NUMBERS,
    "nSGLU",
    _long(
        "oneline graph stat shortstat numstat summary decorate no-decorate all branches tags remotes "
        "name-only name-status follow no-merges merges patch no-patch abbrev abbrev-commit date pretty "
        "format since after until before author committer grep max-count skip reverse first-parent "
        "diff-filter word-diff color no-color unified ignore-all-space ignore-space-change "
        "ignore-blank-lines cached staged check raw minimal patience histogram find-renames no-renames "
        "exit-code quiet topo-order date-order left-right compact-summary no-ext-diff no-textconv "
        "full-index merge-base count"
    ),
)
_SUM = Grammar("bt", "", _long("binary text tag"))
_LINES = Grammar("qvz" + _NUMBERS, "nc", _long("lines bytes quiet silent verbose"), also=r"[-+]\d+")

_GRAMMARS: Mapping[tuple[str, ...], Grammar] = {
    ("git", "status"): Grammar(
        "sbvz",
        "u",
        _long("short branch porcelain untracked-files ignored show-stash verbose ahead-behind long"),
    ),
    ("git", "log"): _GIT_LOG,
    ("git", "diff"): _GIT_LOG,
    ("git", "show"): _GIT_LOG,
    ("git", "rev-list"): _GIT_LOG,
    ("git", "whatchanged"): _GIT_LOG,
    ("git", "stash", "list"): _GIT_LOG._replace(operands=0),
    # An operand of these makes a branch or a tag, or expires the log.
    ("git", "branch"): Grammar(
        "avr", "", _long("list all remotes verbose show-current sort contains merged no-merged"), 0
    ),
    ("git", "tag"): Grammar("ln" + _NUMBERS, "", _long("list sort contains merged no-merged"), 0),
    ("git", "reflog"): Grammar("n" + _NUMBERS, operands=0),
    ("git", "shortlog"): Grammar("snec", "", _long("summary numbered email since until all no-merges")),
    ("git", "blame"): Grammar("wseltfn", "L", _long("date porcelain line-porcelain since show-email")),
    ("git", "describe"): Grammar("", "", _long("tags always dirty abbrev long all contains match")),
    ("git", "rev-parse"): Grammar(
        "",
        "",
        _long("show-toplevel abbrev-ref short verify git-dir is-inside-work-tree show-prefix symbolic"),
    ),
    ("git", "ls-files"): Grammar(
        "cdmosuztvk",
        "x",
        _long("cached deleted modified others stage exclude-standard full-name error-unmatch"),
    ),
    ("git", "ls-tree"): Grammar("rtdlz", "", _long("name-only name-status full-tree long abbrev")),
    ("git", "cat-file"): Grammar("pets"),
    ("git", "merge-base"): Grammar("a", "", _long("all is-ancestor octopus fork-point")),
    ("git", "grep"): Grammar(
        "niwclLEFPGvoqhHp",
        "eABCm",
        _long(
            "line-number ignore-case word-regexp count files-with-matches name-only extended-regexp "
            "fixed-strings perl-regexp invert-match only-matching max-count context after-context "
            "before-context heading break color"
        ),
    ),
    ("git", "count-objects"): Grammar("vH", operands=0),
    ("git", "check-ignore"): Grammar("vqn"),
    ("ls",): Grammar(
        "laAhtSrR1dFpisnogGUXBbCcmQqNxkvu",
        "I",
        _long(
            "all almost-all human-readable recursive reverse color classify directory inode size sort time "
            "time-style group-directories-first full-time numeric-uid-gid ignore hide file-type format "
            "no-group si"
        ),
    ),
    ("cat",): Grammar(
        "nbsETAvetu", "", _long("number number-nonblank squeeze-blank show-all show-ends show-tabs")
    ),
    ("head",): _LINES,
    ("tail",): _LINES,
    ("wc",): Grammar("lwcmL", "", _long("lines words bytes chars max-line-length")),
    ("nl",): Grammar("", "bnwsv"),
    ("tac",): Grammar(),
    ("rev",): Grammar(),
    ("fold",): Grammar("sb", "w", _long("spaces width bytes")),
    ("fmt",): Grammar("stu", "w", _long("width")),
    ("expand",): Grammar("i", "t", _long("tabs initial")),
    ("column",): Grammar("tnex", "sc"),
    ("cut",): Grammar(
        "sn", "dfcb", _long("delimiter fields characters bytes only-delimited complement output-delimiter")
    ),
    ("paste",): Grammar("s", "d", _long("delimiters serial")),
    ("comm",): Grammar("123i", "", _long("check-order nocheck-order output-delimiter total")),
    ("join",): Grammar("i", "12tavoej", _long("ignore-case header")),
    # The second file of `uniq` is written.
    ("uniq",): Grammar("cdiuDz", "", _long("count repeated unique ignore-case all-repeated"), 1),
    ("sort",): Grammar(
        "bdfgiMhnRrVuzcms",
        "kt",
        _long(
            "reverse unique numeric-sort key field-separator ignore-case human-numeric-sort version-sort "
            "stable check merge general-numeric-sort month-sort dictionary-order ignore-leading-blanks "
            "random-sort zero-terminated"
        ),
    ),
    # No folders: links in them are followed.
    ("diff",): Grammar(
        "uwbiqyBcsaEZt" + _NUMBERS,
        "UCW",
        _long(
            "unified brief side-by-side ignore-all-space ignore-space-change ignore-case ignore-blank-lines "
            "color width context report-identical-files text minimal suppress-common-lines"
        ),
        files_only=True,
    ),
    ("cmp",): Grammar("lsb", "n", _long("silent quiet verbose print-bytes bytes")),
    # Without -R: it follows links. -r does not.
    ("grep",): Grammar(
        "EFGPivwxcLlqosbHhnTZrazUI" + _NUMBERS,
        "emABC",
        _long(
            "include exclude exclude-dir color colour count ignore-case line-number recursive "
            "files-with-matches files-without-match invert-match word-regexp line-regexp extended-regexp "
            "fixed-strings perl-regexp basic-regexp max-count only-matching quiet silent no-messages "
            "context after-context before-context with-filename no-filename regexp byte-offset null text "
            "binary-files initial-tab"
        ),
    ),
    ("rg",): Grammar(
        "niclwvFSsoNHUPxp0" + _NUMBERS,
        "tTgABCemdM",
        _long(
            "line-number ignore-case count files-with-matches files-without-match word-regexp invert-match "
            "fixed-strings smart-case case-sensitive only-matching no-line-number with-filename multiline "
            "pcre2 line-regexp type type-not glob iglob after-context before-context context regexp "
            "max-count max-depth max-columns files hidden json stats sort heading no-heading color "
            "count-matches no-ignore type-list trim"
        ),
    ),
    ("fd",): Grammar(
        "HIsiagFp01",
        "etdEcS",
        _long(
            "hidden no-ignore case-sensitive ignore-case absolute-path glob fixed-strings full-path "
            "extension type max-depth min-depth exclude color size changed-within changed-before "
            "max-results"
        ),
    ),
    # Without -L, -H, -follow: they follow links. Without -exec, -delete, -fprint and the like.
    ("find",): Grammar(
        long=_long(
            "name iname path ipath wholename regex iregex type maxdepth mindepth mtime mmin atime amin "
            "ctime cmin newer size empty not a o and or print print0 printf ls prune user group uid gid "
            "perm readable writable executable links inum depth mount xdev P true false regextype nouser "
            "nogroup daystart"
        ),
        also=r"[-+]\d+[a-zA-Z]?",
        single_dash=True,
    ),
    ("tree",): Grammar(
        "adfihspuDtrCnFgQcUvAS",
        "LIP",
        _long("dirsfirst noreport gitignore du sort filelimit prune si inodes"),
    ),
    ("du",): Grammar(
        "shcaSkmx0b",
        "d",
        _long("summarize human-readable total all max-depth apparent-size bytes exclude si time"),
    ),
    ("df",): Grammar("hHTiklaP", "", _long("human-readable print-type inodes total si portability")),
    ("stat",): Grammar("tfx", "c", _long("format printf terse")),
    ("file",): Grammar("bikhr", "", _long("brief mime mime-type mime-encoding")),
    ("jq",): Grammar(
        "rcSsenMCja", "", _long("raw-output compact-output sort-keys slurp exit-status null-input tab")
    ),
    ("basename",): Grammar("az", "s", _long("multiple suffix zero")),
    ("dirname",): Grammar("z", "", _long("zero")),
    ("realpath",): Grammar("emsz", "", _long("canonicalize-existing canonicalize-missing relative-to")),
    ("readlink",): Grammar("femnz", "", _long("canonicalize")),
    ("test",): Grammar("efdrwxsznhLk"),
    ("od",): Grammar("cxbadofsv", "AtNjw"),
    ("hexdump",): Grammar("Ccbdoxv", "ns"),
    ("strings",): Grammar("a", "nt"),
    ("cksum",): Grammar(),
    ("md5sum",): _SUM,
    ("sha1sum",): _SUM,
    ("sha256sum",): _SUM,
    ("sha512sum",): _SUM,
    ("b2sum",): _SUM,
    ("echo",): Grammar("neE"),
    ("printf",): Grammar(),
    ("seq",): Grammar("w", "sf", _long("equal-width separator format"), also=r"-?\d+(?:\.\d+)?"),
    ("true",): Grammar(),
    ("false",): Grammar(),
    ("which",): Grammar("a"),
    # An operand that is no format sets the clock; -s and --set do, too.
    ("date",): Grammar(
        "uR", "I", _long("utc universal rfc-email iso-8601 rfc-3339 date"), 0, also=r"\+[\w%:. ,/T_-]+"
    ),
    ("cal",): Grammar("3y1jm", "", frozenset(), 2),
    ("pwd",): Grammar("LP", operands=0),
    ("whoami",): Grammar(operands=0),
    ("id",): Grammar("ugGnr", operands=1),
    ("groups",): Grammar(operands=0),
    ("hostname",): Grammar("fs", operands=0),
    ("uname",): Grammar("asnrvmpio", "", _long("all machine kernel-name kernel-release operating-system"), 0),
    ("uptime",): Grammar("ps", "", _long("pretty since"), 0),
    ("nproc",): Grammar("", "", _long("all"), 0),
    ("free",): Grammar("hbkmgt", "", _long("human mega giga total"), 0),
}
