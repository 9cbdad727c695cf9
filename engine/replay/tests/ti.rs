//! SimGrid's time-independent traces: which requests a line ends, and which line is refused.

use proptest::prelude::*;
use replay::Program;
use replay::program::{Op, Records};
use replay::ti::{Refusal, read};

/// The program of a text; an operation takes a nanosecond.
fn program(text: &str) -> Result<Program, Refusal> {
    let trace = read(&[text.as_bytes()], 1.0)?;
    let ranks = trace.calls.ends.len() as u32;
    let first: Vec<u64> = [0].into_iter().chain(trace.calls.ends).collect();
    let records = Records {
        rows: &trace.calls.rows,
        lists: &trace.calls.lists,
        first: &first,
    };
    Ok(Program::from_records(records, vec![(0..ranks).collect()]).unwrap())
}

/// Requests that each wait of the first rank ends.
fn waits(text: &str) -> Vec<Vec<u64>> {
    let program = program(text).unwrap();
    let rank = &program.ranks[0];
    let waits = rank.calls.iter().filter(|call| call.op == Op::Wait);
    waits.map(|call| rank.list(call).to_vec()).collect()
}

fn refusal(text: &str) -> (usize, String) {
    let found = program(text).unwrap_err();
    (found.line, found.sentence)
}

#[test]
fn the_oldest_request_of_a_sender_receiver_and_tag_ends_first() {
    let text =
        "0 irecv 0 1 8\n0 irecv 0 2 8\n0 irecv 0 1 8\n0 wait 0 0 1\n0 wait 0 0 1\n0 wait 0 0 2\n";
    assert_eq!(waits(text), [[0], [2], [1]]);
}

#[test]
fn a_wait_for_all_ends_them_key_by_key_and_numbers_are_used_again() {
    let text = "0 irecv 0 2 8\n0 irecv 0 1 8\n0 irecv 0 2 8\n0 waitall\n0 irecv 0 9 8\n0 waitall\n0 waitall\n";
    assert_eq!(waits(text), [vec![0, 2, 1], vec![0]]);
}

#[test]
fn the_last_test_of_a_request_that_is_not_waited_for_ends_it() {
    let text = "0 irecv 0 1 8\n0 test 0 0 1\n0 compute 5\n0 test 0 0 1\n0 test 0 0 7\n0 finalize\n";
    let program = program(text).unwrap();
    assert_eq!(program.ranks[0].calls.len(), 2);
    assert_eq!(program.ranks[0].calls[1].compute_ns, 5);
}

#[test]
fn the_line_that_is_refused_is_named() {
    assert_eq!(
        refusal("0 init\n\n0 jump 1\n"),
        (
            3,
            "has the call 'jump', which the format does not have".into()
        )
    );
    assert_eq!(
        refusal("0 init\n0 compute 1e30"),
        (
            2,
            "has '1e30' for a time, which is not from 0 to 104 days".into()
        )
    );
    assert_eq!(
        refusal("0 init\n0 send 0 it's\x01 8"),
        (2, r#"has "it's\x01" for a tag, which is no number"#.into())
    );
    assert_eq!(refusal(""), (0, "has no call".into()));
    assert_eq!(
        refusal("1 init"),
        (0, "has no call of rank 0, but of rank 1".into())
    );
}

proptest! {
    /// Any bytes give calls or a refusal, and what is neither is not lost: as many calls as lines that make one.
    #[test]
    fn any_text_is_read_or_refused(text in "(([01]|x) (init|send|compute|wait|bcast|gatherv|jump)( [0-9e.-]{1,3}){0,4}\n){0,8}") {
        match read(&[text.as_bytes()], 1.0) {
            Ok(trace) => {
                let calls = text.lines().filter(|line| {
                    [" send ", " bcast ", " gatherv "].iter().any(|verb| line.contains(verb))
                });
                let rows = trace.calls.rows.len() / replay::program::ROW;
                let computing = usize::from(text.contains("compute")) * trace.calls.ends.len();
                prop_assert!((calls.clone().count()..=calls.count() + computing).contains(&rows));
            }
            Err(refusal) => prop_assert!(refusal.line <= text.lines().count()),
        }
    }
}
