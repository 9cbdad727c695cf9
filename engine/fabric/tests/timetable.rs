//! One small simulation, checked cable by cable: a ping over two switches whose links sleep.

use crate::lab::{mac, unicast};
use fabric::time::{PS_PER_S, PS_PER_US, Ps};
use fabric::{CableId, Fabric, LpiChange, NicSpec, PortId, SwitchSpec};

/// 1000BASE-T as the standard has it, a hold of 100 µs and, of the switches, a wake of 60 µs.
fn sleepy(fabric: &mut Fabric, port: PortId, wake: Ps) {
    let change = LpiChange {
        hold: Some(100 * PS_PER_US),
        wake: Some(wake),
        ..LpiChange::default()
    };
    fabric.set_lpi(0, port, &change).unwrap();
}

#[test]
fn frames_wake_links_one_by_one_and_each_direction_by_itself() {
    let mut fabric = Fabric::new(0, 0);
    let switches = ["a", "b"].map(|name| {
        let spec = SwitchSpec::new(name, "1000BASE-T", 2);
        fabric.add_switch(spec).unwrap().ports
    });
    let nics = [0, 1].map(|host| {
        let spec = NicSpec::new("n", mac(host), "1000BASE-T");
        fabric.add_nic(spec).unwrap()
    });
    let names = [
        (nics[0], "host 0"),
        (nics[1], "host 1"),
        (switches[0][0], "a port 1"),
        (switches[0][1], "a port 2"),
        (switches[1][0], "b port 1"),
        (switches[1][1], "b port 2"),
    ];
    for (port, name) in names {
        let wake = if name.starts_with("host") {
            16_500_000
        } else {
            60 * PS_PER_US
        };
        sleepy(&mut fabric, port, wake);
    }
    for (a, b) in [
        (nics[0], switches[0][0]),
        (switches[0][1], switches[1][0]),
        (switches[1][1], nics[1]),
    ] {
        let cable: CableId = fabric.connect(0, a, b, 10.0).unwrap();
        fabric.set_tapped(cable, true).unwrap();
    }

    let origin = 60 * PS_PER_S;
    let mut out = Vec::new();
    for (after_us, from, to) in [(0, 0, 1), (30, 0, 1), (200, 1, 0), (310, 0, 1)] {
        let at = origin + after_us * PS_PER_US;
        fabric.poll(at, &mut out);
        fabric
            .transmit(at, nics[from], unicast(from, to, 94))
            .unwrap();
    }
    fabric.poll(origin + PS_PER_S, &mut out);
    let mut seen = Vec::new();
    fabric.take_tapped(&mut seen);
    let sent = seen.into_iter().map(|tapped| {
        let (_, name) = names
            .iter()
            .find(|(port, _)| *port == tapped.from_port)
            .unwrap();
        (
            tapped.at,
            format!("{name} sends {} bytes", tapped.frame.octets()),
        )
    });
    let arrived = out.into_iter().map(|delivery| {
        let host = delivery.frame.bytes[5];
        (delivery.at, format!("host {host} has it"))
    });
    let mut rows: Vec<(Ps, String)> = sent.chain(arrived).collect();
    rows.sort();
    let table: String = rows
        .iter()
        .map(|(at, what)| {
            format!(
                "{:>8.3} us  {what}\n",
                (at - origin) as f64 / PS_PER_US as f64
            )
        })
        .collect();
    assert_eq!(table, EXPECTED, "\n{table}");
}

/// Worked out by hand too: a hop of 98 + 8 bytes takes 0.848 us, a cable 0.05 us, a switch 2 us. The frame of 310 us
/// meets host 0 falling asleep since 130.944 us (the one before ended at 30.944), so it waits for the end of Ts at
/// 312.944 us and 16.5 us of wake.
const EXPECTED: &str = "  \
  16.500 us  host 0 sends 98 bytes
  30.000 us  host 0 sends 98 bytes
  79.398 us  a port 2 sends 98 bytes
  80.342 us  a port 2 sends 98 bytes
 142.296 us  b port 2 sends 98 bytes
 143.194 us  host 1 has it
 143.240 us  b port 2 sends 98 bytes
 144.138 us  host 1 has it
 216.500 us  host 1 sends 98 bytes
 279.398 us  b port 1 sends 98 bytes
 329.444 us  host 0 sends 98 bytes
 342.296 us  a port 1 sends 98 bytes
 343.194 us  host 0 has it
 423.286 us  a port 2 sends 98 bytes
 486.184 us  b port 2 sends 98 bytes
 487.082 us  host 1 has it
";
