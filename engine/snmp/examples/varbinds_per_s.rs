//! How many variable bindings the protocol engine answers in a second of one core, without sockets.

use std::time::{Duration, Instant};

use snmp::ber::{self, Prepender};
use snmp::identity::Own;
use snmp::{Access, Agent, AgentConfig, Step, Table, TableBuilder, Value, Variables};

struct Fixed(Table);

impl Variables for Fixed {
    fn table(&mut self, _own: &Own) -> &Table {
        &self.0
    }
}

fn main() {
    let column = [1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 6];
    let mut builder = TableBuilder::default();
    for row in 1..=5000 {
        builder.put(&column, &[row], &Value::Counter64(1 << 40 | u64::from(row)));
    }
    let mut variables = Fixed(builder.build());
    let mut agent = Agent::new(&AgentConfig {
        engine_id: b"\x80\x00\x02\xa2\x05bench".to_vec(),
        boots: 1,
        communities: vec![("public".into(), Access::ReadOnly)],
        users: Vec::new(),
        size_max_byte: 1472,
        salt_seed: 1,
    })
    .expect("a valid configuration");
    let mut request = Prepender::default();
    request.header(ber::NULL, 0);
    request.oid(&column);
    request.wrap(ber::SEQUENCE, 0);
    request.wrap(ber::SEQUENCE, 0);
    request.integer(50);
    request.integer(0);
    request.integer(1);
    request.wrap(0xa5, 0);
    request.element(ber::OCTETS, b"public");
    request.integer(1);
    request.wrap(ber::SEQUENCE, 0);
    let rounds = 1_000_000_u32;
    let start = Instant::now();
    let mut sent_byte = 0;
    for _ in 0..rounds {
        if let Step::Answer = agent.receive(Duration::ZERO, request.written(), &mut variables) {
            sent_byte += agent.answer().len();
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{:.0} GETBULK of 50 varbinds/s, {:.0} varbinds/s, {sent_byte} byte",
        f64::from(rounds) / seconds,
        50.0 * f64::from(rounds) / seconds
    );
}
