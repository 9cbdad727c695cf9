"""Switch families: what to say to a switch, and how to understand what it shows. Pure; `table` lists them all."""
