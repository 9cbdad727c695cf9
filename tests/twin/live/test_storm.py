"""A loop made on the command line: the storm stays in the lab, is reported, and ends with the loop."""

from tests.support.labs.lab_client import LabClient, eeectl, eventually

LOOPS = {
    "sw1": ("gi1/0/12", "gi1/0/14", "gi1/0/16", "gi1/0/18", "gi1/0/20"),
    "sw2": ("gi1/0/12",),
    "sw3": ("gi1/0/12",),
    "sw4": ("gi1/0/12",),
    "sw5": ("1/0/12",),
    "sw6": ("1/0/12",),
}


def test_a_storm_stays_inside_and_ends_with_the_loop(lab: LabClient) -> None:
    for switch, ports in LOOPS.items():
        if switch != "sw1":
            lab.configure(switch, *(line for port in ports for line in (f"interface {port}", "no shutdown", "exit")))
    alarms = len(lab.status()["engine"]["alarms"])
    opened = [line for port in LOOPS["sw1"] for line in (f"interface {port}", "no shutdown", "exit")]
    shut = [line for port in LOOPS["sw1"] for line in (f"interface {port}", "shutdown", "exit")]
    lab.configure("sw1", *opened)
    try:
        for port in LOOPS["sw1"]:
            lab.await_link(f"sw1:{port}", "up")
        # Broadcasts: requests for an unused address.
        lab.ssh("n01", "ping -q -n -c 3 -i 0.2 -W 1 198.19.250.250", check=False)

        def reported() -> list[str]:
            found = [alarm["sentence"] for alarm in lab.status()["engine"]["alarms"][alarms:]]
            return [sentence for sentence in found if "loop" in sentence]

        assert eventually("an alarm reports the storm", reported)
        # The machine is not the lab: management, command lines and programs outside go on working.
        assert "alarm at" in eeectl("lab", "status", lab.name).stdout
        assert lab.ssh("n05", "echo still here").stdout == "still here\n"
    finally:
        lab.configure("sw1", *shut)

    def offered() -> tuple[int, int]:
        frames = lab.status()["engine"]["frames"]
        return frames["in_flight"], frames["copies"]

    def ended() -> bool:
        in_flight, copies = offered()
        return in_flight == 0 and offered()[1] - copies < 1_000

    eventually("nothing circulates any more", ended)
    for switch, ports in LOOPS.items():
        if switch != "sw1":
            lab.configure(switch, *(line for port in ports for line in (f"interface {port}", "shutdown", "exit")))
    lab.await_links()
    for a, b in (("n01", "n12"), ("n03", "n09"), ("n06", "n07")):
        lab.await_ping(a, b)
