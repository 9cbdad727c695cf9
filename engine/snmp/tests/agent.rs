//! Datagrams in, datagrams out: RFC 3416's rules over v1, v2c and v3, and garbage.

use std::time::Duration;

use proptest::prelude::*;
use snmp::ber::{self, Prepender, Reader};
use snmp::identity::Own;
use snmp::keys::{AuthProtocol, PrivProtocol};
use snmp::{
    Access, Agent, AgentConfig, ErrorStatus, Step, Table, TableBuilder, UserConfig, Value,
    Variables,
};

const GET: u8 = 0xa0;
const GET_NEXT: u8 = 0xa1;
const SET: u8 = 0xa3;
const GET_BULK: u8 = 0xa5;
const COLUMN: [u32; 10] = [1, 3, 6, 1, 2, 1, 2, 2, 1, 10];
const WIDE: [u32; 10] = [1, 3, 6, 1, 2, 1, 2, 2, 1, 11];

struct Shelf {
    rows: u32,
    with_own: bool,
    table: Table,
}

impl Variables for Shelf {
    fn table(&mut self, own: &Own) -> &Table {
        let mut builder = TableBuilder::default();
        for row in 1..=self.rows {
            builder.put(&COLUMN, &[row], &Value::Counter32(row));
            builder.put(&WIDE, &[row], &Value::Counter64(u64::from(row)));
        }
        if self.with_own {
            own.put_into(&mut builder);
        }
        self.table = builder.build();
        &self.table
    }
}

fn shelf(rows: u32) -> Shelf {
    Shelf {
        rows,
        with_own: false,
        table: Table::default(),
    }
}

fn agent(size_max_byte: usize) -> Agent {
    let auth = (AuthProtocol::Sha1, vec![7; 20]);
    Agent::new(&AgentConfig {
        engine_id: b"\x80\x00\x02\xa2\x05bench".to_vec(),
        boots: 1,
        communities: vec![
            ("public".into(), Access::ReadOnly),
            ("private".into(), Access::ReadWrite),
        ],
        users: vec![UserConfig {
            name: "ops".into(),
            access: Access::ReadWrite,
            privacy: Some((PrivProtocol::Aes128, auth.1.clone())),
            auth: Some(auth),
        }],
        size_max_byte,
        salt_seed: 7,
    })
    .expect("a valid configuration")
}

fn name(object: &[u32], index: &[u32]) -> Vec<u32> {
    [object, index].concat()
}

fn pdu(tag: u8, second: i32, third: i32, binds: &[(Vec<u32>, Value)]) -> Prepender {
    let mut out = Prepender::default();
    for (name, value) in binds.iter().rev() {
        let mark = out.size_byte();
        value.prepend(&mut out);
        out.oid(name);
        out.wrap(ber::SEQUENCE, mark);
    }
    out.wrap(ber::SEQUENCE, 0);
    out.integer(third);
    out.integer(second);
    out.integer(77);
    out.wrap(tag, 0);
    out
}

fn message(version: i32, community: &str, mut pdu: Prepender) -> Vec<u8> {
    pdu.element(ber::OCTETS, community.as_bytes());
    pdu.integer(version);
    pdu.wrap(ber::SEQUENCE, 0);
    pdu.written().to_vec()
}

fn ask(names: &[Vec<u32>]) -> Vec<(Vec<u32>, Value<'static>)> {
    names
        .iter()
        .map(|name| (name.clone(), Value::Null))
        .collect()
}

/// error-status, error-index, and per binding: name, tag of its value, content.
type Answer = (i32, i32, Vec<(Vec<u32>, u8, Vec<u8>)>);

fn read_answer(datagram: &[u8]) -> Answer {
    let read = || -> Result<Answer, ber::BerError> {
        let mut message = Reader::new(datagram).inside(ber::SEQUENCE)?;
        message.integer()?;
        message.expect(ber::OCTETS)?;
        let mut pdu = message.inside(0xa2)?;
        assert_eq!(pdu.integer()?, 77);
        let (status, index) = (pdu.integer()?, pdu.integer()?);
        let mut list = pdu.inside(ber::SEQUENCE)?;
        let mut binds = Vec::new();
        while !list.is_empty() {
            let mut bind = list.inside(ber::SEQUENCE)?;
            let mut name = Vec::new();
            ber::oid(bind.expect(ber::OID)?, &mut name)?;
            let (tag, content) = bind.element()?;
            binds.push((name, tag, content.to_vec()));
        }
        Ok((status, index, binds))
    };
    read().expect("a well-formed response")
}

fn talk(agent: &mut Agent, shelf: &mut Shelf, datagram: &[u8]) -> Option<Answer> {
    match agent.receive(Duration::from_secs(5), datagram, shelf) {
        Step::Answer => Some(read_answer(agent.answer())),
        Step::Silent => None,
        Step::Set(_) => panic!("no SET was sent"),
    }
}

#[test]
fn get_distinguishes_missing_objects_from_missing_instances() {
    let names = [
        name(&COLUMN, &[2]),
        name(&COLUMN, &[9]),
        name(&[1, 3, 6, 1, 9], &[0]),
    ];
    let request = message(1, "public", pdu(GET, 0, 0, &ask(&names)));
    let (status, index, binds) =
        talk(&mut agent(1472), &mut shelf(3), &request).expect("an answer");
    assert_eq!((status, index), (0, 0));
    assert_eq!(
        binds.iter().map(|(_, tag, _)| *tag).collect::<Vec<_>>(),
        [ber::COUNTER32, 0x81, 0x80]
    );
    assert_eq!(binds[0].2, [2]);
}

#[test]
fn get_next_ends_with_the_view() {
    let names = [name(&COLUMN, &[]), name(&COLUMN, &[3]), name(&WIDE, &[3])];
    let request = message(1, "public", pdu(GET_NEXT, 0, 0, &ask(&names)));
    let (_, _, binds) = talk(&mut agent(1472), &mut shelf(3), &request).expect("an answer");
    assert_eq!(binds[0].0, name(&COLUMN, &[1]));
    assert_eq!(
        (&binds[1].0, binds[1].1),
        (&name(&WIDE, &[1]), ber::COUNTER64)
    );
    assert_eq!((&binds[2].0, binds[2].1), (&name(&WIDE, &[3]), 0x82));
}

#[test]
fn version_1_has_no_exceptions_and_no_counter64() {
    let request = message(
        0,
        "public",
        pdu(GET_NEXT, 0, 0, &ask(&[name(&COLUMN, &[3])])),
    );
    let (status, index, _) = talk(&mut agent(1472), &mut shelf(3), &request).expect("an answer");
    assert_eq!((status, index), (ErrorStatus::NoSuchName as i32, 1));
    let request = message(
        0,
        "public",
        pdu(GET, 0, 0, &ask(&[name(&COLUMN, &[1]), name(&WIDE, &[1])])),
    );
    let (status, index, binds) =
        talk(&mut agent(1472), &mut shelf(3), &request).expect("an answer");
    assert_eq!(
        (status, index, binds.len()),
        (ErrorStatus::NoSuchName as i32, 2, 2)
    );
    let request = message(
        0,
        "public",
        pdu(GET_BULK, 0, 5, &ask(&[name(&COLUMN, &[])])),
    );
    assert_eq!(talk(&mut agent(1472), &mut shelf(3), &request), None);
}

#[test]
fn bulk_interleaves_its_columns_and_stops_at_the_end() {
    let names = [name(&[1, 3], &[]), name(&COLUMN, &[]), name(&WIDE, &[])];
    let request = message(1, "public", pdu(GET_BULK, 1, 100, &ask(&names)));
    let (_, _, binds) = talk(&mut agent(65_507), &mut shelf(2), &request).expect("an answer");
    let expected = [
        (name(&COLUMN, &[1]), ber::COUNTER32),
        (name(&COLUMN, &[1]), ber::COUNTER32),
        (name(&WIDE, &[1]), ber::COUNTER64),
        (name(&COLUMN, &[2]), ber::COUNTER32),
        (name(&WIDE, &[2]), ber::COUNTER64),
        (name(&WIDE, &[1]), ber::COUNTER64),
        (name(&WIDE, &[2]), 0x82),
        (name(&WIDE, &[2]), ber::COUNTER64),
        (name(&WIDE, &[2]), 0x82),
        (name(&WIDE, &[2]), 0x82),
        (name(&WIDE, &[2]), 0x82),
    ];
    assert_eq!(
        binds
            .into_iter()
            .map(|(name, tag, _)| (name, tag))
            .collect::<Vec<_>>(),
        expected
    );
}

#[test]
fn bulk_fills_a_datagram_and_get_reports_too_big() {
    for size_byte in [484, 1472, 9000, 65_507] {
        let request = message(
            1,
            "public",
            pdu(GET_BULK, 0, i32::MAX, &ask(&[name(&COLUMN, &[])])),
        );
        let mut agent = agent(size_byte);
        let (status, _, binds) = talk(&mut agent, &mut shelf(9000), &request).expect("an answer");
        let sent_byte = agent.answer().len();
        assert_eq!(status, 0);
        assert!(
            sent_byte <= size_byte && sent_byte + 48 > size_byte,
            "{sent_byte} of {size_byte} byte"
        );
        assert!(binds.len() > size_byte / 25);
    }
    let names: Vec<_> = (1..=28).map(|row| name(&COLUMN, &[row])).collect();
    let request = message(1, "public", pdu(GET, 0, 0, &ask(&names)));
    let (status, index, binds) =
        talk(&mut agent(484), &mut shelf(99), &request).expect("an answer");
    assert_eq!(
        (status, index, binds.len()),
        (ErrorStatus::TooBig as i32, 0, 0)
    );
}

#[test]
fn an_unknown_community_gets_no_response_and_is_counted() {
    let mut agent = agent(1472);
    let mut shelf = Shelf {
        with_own: true,
        ..shelf(1)
    };
    let wrong = message(1, "guess", pdu(GET, 0, 0, &ask(&[name(&COLUMN, &[1])])));
    assert_eq!(talk(&mut agent, &mut shelf, &wrong), None);
    let request = message(
        1,
        "public",
        pdu(GET, 0, 0, &ask(&[vec![1, 3, 6, 1, 2, 1, 11, 4, 0]])),
    );
    assert_eq!(
        talk(&mut agent, &mut shelf, &request).expect("an answer").2[0].2,
        [1]
    );
}

#[test]
fn a_set_waits_for_its_result() {
    let binds = [
        (name(&COLUMN, &[1]), Value::Integer(-5)),
        (name(&WIDE, &[1]), Value::octets(b"xy")),
    ];
    let mut agent = agent(1472);
    let request = message(1, "private", pdu(SET, 0, 0, &binds));
    let Step::Set(pending) = agent.receive(Duration::ZERO, &request, &mut shelf(1)) else {
        panic!("a SET")
    };
    assert_eq!(pending.binds.len(), 2);
    assert_eq!(pending.binds[1].value, Value::octets(b"xy"));
    agent.finish_set(&pending, (ErrorStatus::WrongType, 2));
    let (status, index, back) = read_answer(agent.answer());
    assert_eq!(
        (status, index, back[0].2.clone()),
        (ErrorStatus::WrongType as i32, 2, vec![0xfb])
    );
    let request = message(1, "public", pdu(SET, 0, 0, &binds));
    let (status, index, _) = talk(&mut agent, &mut shelf(1), &request).expect("an answer");
    assert_eq!((status, index), (ErrorStatus::NoAccess as i32, 1));
}

fn discovery() -> Vec<u8> {
    let mut out = pdu(GET, 0, 0, &[]);
    out.element(ber::OCTETS, b"");
    out.element(ber::OCTETS, b"");
    out.wrap(ber::SEQUENCE, 0);
    let mark = out.size_byte();
    (0..3).for_each(|_| out.element(ber::OCTETS, b""));
    (0..2).for_each(|_| out.integer(0));
    out.element(ber::OCTETS, b"");
    out.wrap(ber::SEQUENCE, mark);
    out.wrap(ber::OCTETS, mark);
    let mark = out.size_byte();
    out.integer(3);
    out.element(ber::OCTETS, &[4]);
    out.integer(65_507);
    out.integer(99);
    out.wrap(ber::SEQUENCE, mark);
    out.integer(3);
    out.wrap(ber::SEQUENCE, 0);
    out.written().to_vec()
}

#[test]
fn discovery_is_answered_with_the_engine_id() {
    let mut agent = agent(1472);
    assert!(matches!(
        agent.receive(Duration::from_secs(5), &discovery(), &mut shelf(1)),
        Step::Answer
    ));
    let report = agent.answer();
    assert!(
        report
            .windows(10)
            .any(|part| part == b"\x80\x00\x02\xa2\x05bench")
    );
    // usmStatsUnknownEngineIDs.0 = 1
    assert!(report.ends_with(b"\x06\x0a\x2b\x06\x01\x06\x03\x0f\x01\x01\x04\x00\x41\x01\x01"));
}

proptest! {
    #[test]
    fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        agent(1472).receive(Duration::ZERO, &bytes, &mut shelf(1));
    }

    #[test]
    fn altered_messages_never_panic(at: prop::sample::Index, octet: u8, cut: prop::sample::Index, which in 0..3) {
        let binds = [(name(&COLUMN, &[1]), Value::Integer(-5)), (name(&WIDE, &[1]), Value::octets(b"xy"))];
        let mut bytes = match which {
            0 => message(1, "private", pdu(SET, 0, 0, &binds)),
            1 => message(1, "public", pdu(GET_BULK, 1, 9, &binds)),
            _ => discovery(),
        };
        let place = at.index(bytes.len());
        bytes[place] = octet;
        bytes.truncate(cut.index(bytes.len()) + bytes.len() / 2);
        agent(1472).receive(Duration::ZERO, &bytes, &mut shelf(3));
    }

    #[test]
    fn a_walk_sees_every_variable_once(rows in 1u32..60, repetitions in 1i32..30) {
        let mut agent = agent(484);
        let mut shelf = shelf(rows);
        let mut at = vec![1, 3];
        let mut seen = Vec::new();
        'walk: loop {
            let request = message(1, "public", pdu(GET_BULK, 0, repetitions, &ask(std::slice::from_ref(&at))));
            let (_, _, binds) = talk(&mut agent, &mut shelf, &request).expect("an answer");
            prop_assert!(!binds.is_empty());
            for (name, tag, _) in binds {
                if tag == 0x82 {
                    break 'walk;
                }
                at.clone_from(&name);
                seen.push(name);
            }
        }
        prop_assert!(seen.is_sorted());
        prop_assert_eq!(seen.len(), 2 * rows as usize);
    }
}
