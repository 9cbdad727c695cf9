"""`eeectl lab`: the verbs for virtual labs, and `check`, which is for real ones too."""

from twin.commands import lab_app

lab_app.command("controller.commands.lab_check_command:check", name="check")
