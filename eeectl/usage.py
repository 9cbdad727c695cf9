"""How a command is called, in one line: what it works on comes first, as some options take all words that follow."""

import inspect

from cyclopts import App, Argument

from eee_testbed.eeectl.after_dashes import takes_command


def usage_of(path: str, command: App) -> str:
    """The command's path, what it works on, the options that it needs, and that there are others."""
    arguments = [argument for argument in command.assemble_argument_collection() if argument.show]
    options = [argument for argument in arguments if not is_positional(argument)]
    words = [path, *(_hint(argument) for argument in arguments if is_positional(argument))]
    words += [f"{argument.names[0]} {object_word(argument)}" for argument in options if argument.required]
    words += ["[OPTIONS]"] if any(not argument.required for argument in options) else []
    words += ["[-- COMMAND...]"] if takes_command(command.default_command) else []
    return " ".join(words)


def is_positional(argument: Argument) -> bool:
    """Whether a person may give it without an option's name."""
    return argument.field_info.kind is not inspect.Parameter.KEYWORD_ONLY


def object_word(argument: Argument) -> str:
    """What stands for its value in a line of usage."""
    return argument.names[0].lstrip("-").upper()


def _hint(argument: Argument) -> str:
    word = object_word(argument) + ("..." if argument.field_info.kind is inspect.Parameter.VAR_POSITIONAL else "")
    return word if argument.required else f"[{word}]"
