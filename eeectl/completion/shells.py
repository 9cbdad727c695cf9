"""The scripts that make shells ask `eeectl` for completions, and where they are installed."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from eee_testbed.lab import durable
from eee_testbed.lab.errors import LabError

_BASH: Final = """\
# Completion of eeectl, written by `eeectl completion install`.
_eeectl() {
    local line="${COMP_LINE:0:COMP_POINT}"
    local word="${line##* }" head=""
    mapfile -t COMPREPLY < <(eeectl completion words "$line" 2>/dev/null)
    # Bash takes the characters of COMP_WORDBREAKS, such as a port's colon, as ends of words.
    if [[ $word == *[:=]* ]]; then
        head="${word%"${word##*[:=]}"}"
        COMPREPLY=("${COMPREPLY[@]#"$head"}")
    fi
}
complete -o bashdefault -o default -F _eeectl eeectl
"""

_ZSH: Final = """\
# Completion of eeectl, written by `eeectl completion install`.
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
_eeectl() {
    local -a found
    found=(${(f)"$(eeectl completion words "$LBUFFER" 2>/dev/null)"})
    if (( $#found )); then compadd -Q -a found; else _files; fi
}
compdef _eeectl eeectl
"""

_FISH: Final = """\
# Completion of eeectl, written by `eeectl completion install`.
complete -c eeectl -f -a '(eeectl completion words (commandline -cp) 2>/dev/null; or __fish_complete_path)'
"""


@dataclass(frozen=True, slots=True)
class Shell:
    """A shell's script, its file below the home folder, and the file that has to read it, empty if none has to."""

    script: str
    file: str
    startup: str


SHELLS: Final[Mapping[str, Shell]] = {
    "bash": Shell(_BASH, ".local/share/eee-testbed/completion.bash", ".bashrc"),
    "zsh": Shell(_ZSH, ".local/share/eee-testbed/completion.zsh", ".zshrc"),
    "fish": Shell(_FISH, ".config/fish/completions/eeectl.fish", ""),
}


def install(name: str, home: Path) -> tuple[Path, Path | None]:
    """Write a shell's script, and a line in its startup file unless it is there; both files, the second if changed.

    LabError if a file cannot be written.
    """
    shell = SHELLS[name]
    file, startup = home / shell.file, home / shell.startup if shell.startup else None
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        durable.replace(file, shell.script)
        if startup is None:
            return file, None
        line = f'[ -f "$HOME/{shell.file}" ] && . "$HOME/{shell.file}"'
        text = startup.read_text(encoding="utf-8") if startup.exists() else ""
        if line in text.splitlines():
            return file, None
        gap = "" if not text or text.endswith("\n") else "\n"
        with startup.open("a", encoding="utf-8") as opened:  # not replaced: it may be a link into a versioned folder
            opened.write(f"{gap}{line}\n")
    except OSError as error:
        raise LabError(
            f"{error.filename or file} cannot be written ({error.strerror}): put the output of "
            f"`eeectl completion show {name}` where {name} reads it."
        ) from error
    return file, startup
