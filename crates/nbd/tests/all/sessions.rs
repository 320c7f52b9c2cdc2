//! NBD without sockets: how negotiation and requests treat valid messages and garbage, and what contents keep.

use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use nbd::activity::Activity;
use nbd::awake::Places;
use nbd::backing::Backing;
use nbd::client::{Ask, Client};
use nbd::clock::{AfterPause, Clock, Cost};
use nbd::contents::Contents;
use nbd::export::{Export, MAX_PAYLOAD_BYTES};
use nbd::flight::SHARED_BYTES;
use nbd::negotiation::{MAX_OPTION_BYTES, Negotiation, Step, Violation};
use nbd::protocol::{Fault, OPTION_MAGIC, Reader, answer, command, option};
use nbd::request::{Action, Request};
use nbd::room::Room;
use nbd::session;
use nbd::shared::Shared;
use nbd::tally::Tally;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

const MIB: u64 = 1 << 20;
const GREETING_BYTES: usize = 18;

fn export() -> Export {
    Export {
        name: "drive".to_owned(),
        description: "a drive for tests".to_owned(),
        size_bytes: 64 * MIB,
        block_bytes: 512,
    }
}

fn asked(kind: u32, data: &[u8]) -> Vec<u8> {
    let length = (data.len() as u32).to_be_bytes();
    [
        &OPTION_MAGIC.to_be_bytes()[..],
        &kind.to_be_bytes(),
        &length,
        data,
    ]
    .concat()
}

fn go(name: &str) -> Vec<u8> {
    let length = (name.len() as u32).to_be_bytes();
    asked(
        option::GO,
        &[&length[..], name.as_bytes(), &[0, 0]].concat(),
    )
}

/// Returns the result of a negotiation in which the client sends `words`, and the server's answers. The words arrive in
/// pieces of `piece` bytes.
fn negotiate(words: &[u8], piece: usize) -> (Result<Step, Violation>, Vec<u8>) {
    let mut out = Vec::new();
    let mut negotiation = Negotiation::begin(&mut out);
    assert_eq!(out.len(), GREETING_BYTES);
    let (mut start, mut end) = (0, 0);
    while end < words.len() {
        end = (end + piece).min(words.len());
        loop {
            let input = &words[start..end];
            let (taken, step) = match negotiation.take(input, &export(), &mut out) {
                Ok(taken) => taken,
                Err(violation) => return (Err(violation), out),
            };
            assert!(taken <= input.len());
            start += taken;
            if step != Step::More {
                return (Ok(step), out);
            }
            if taken == 0 {
                break;
            }
        }
    }
    (Ok(Step::More), out)
}

/// Returns the kinds of the answers after the greeting.
fn kinds(out: &[u8]) -> Vec<u32> {
    let mut reader = Reader(&out[GREETING_BYTES..]);
    let mut kinds = Vec::new();
    while reader.u64().is_some() {
        reader.u32();
        kinds.extend(reader.u32());
        let length = reader.u32().expect("an answer has a length");
        reader.bytes(length as usize).expect("and its data");
    }
    kinds
}

fn after_greeting(options: &[Vec<u8>]) -> Vec<u8> {
    [vec![0, 0, 0, 3], options.concat()].concat()
}

/// Generates requests, most of them nearly valid, so that all paths through the checks are taken.
fn any_ask() -> impl Strategy<Value = Ask> {
    let edge = 64 * MIB;
    let offset = prop_oneof![
        (0..edge / 512 + 4).prop_map(|block| block * 512),
        any::<u64>(),
        (0..4_u64).prop_map(|blocks| u64::MAX - blocks * 512 - 511),
    ];
    let length = prop_oneof![
        (0..16_u32).prop_map(|blocks| blocks * 512),
        any::<u32>(),
        Just(MAX_PAYLOAD_BYTES),
        Just(MAX_PAYLOAD_BYTES + 512),
    ];
    (0..9_u16, 0..4_u16, any::<u64>(), offset, length).prop_map(
        |(kind, flags, cookie, offset, length)| Ask {
            kind,
            flags,
            cookie,
            offset,
            length,
        },
    )
}

fn taken(ask: &Ask) -> Request {
    Request::take(&ask.to_bytes())
        .expect("it begins with the right word")
        .expect("it is all there")
}

proptest! {
    #[test]
    fn garbage_is_told_apart_and_never_agreed_to(words in vec(any::<u8>(), 0..2000)) {
        let (step, out) = negotiate(&words, words.len().max(1));
        let agreed = matches!(step, Ok(Step::Agreed { .. }));
        prop_assert!(!agreed, "garbage led to an agreement");
        prop_assert!(out.len() <= GREETING_BYTES + words.len() * 4);
    }

    #[test]
    fn options_of_any_kind_and_data_are_each_answered(
        options in vec((4..40_u32, vec(any::<u8>(), 0..60)), 0..20)
    ) {
        let options: Vec<_> = options
            .iter()
            .filter(|(kind, _)| *kind != option::GO)
            .map(|(kind, data)| asked(*kind, data))
            .collect();
        let (step, out) = negotiate(&after_greeting(&options), 4096);
        prop_assert_eq!(step, Ok(Step::More));
        let last = |kind: &&u32| **kind != answer::INFO && **kind != answer::SERVER;
        prop_assert_eq!(kinds(&out).iter().filter(last).count(), options.len());
    }

    #[test]
    fn how_words_are_cut_into_pieces_makes_no_difference(piece in 1..40_usize) {
        let words = after_greeting(&[
            asked(99, b"what?"),
            asked(option::STRUCTURED_REPLY, &[]),
            asked(option::LIST, &[]),
            go("another"),
            go("drive"),
        ]);
        let at_once = negotiate(&words, words.len());
        prop_assert_eq!(&at_once.0, &Ok(Step::Agreed { structured: true }));
        prop_assert_eq!(negotiate(&words, piece), at_once);
    }

    #[test]
    fn a_request_that_passes_lies_within_the_drive(ask in any_ask()) {
        let export = export();
        let request = taken(&ask);
        prop_assert_eq!(request.cookie, ask.cookie);
        if let Ok(command) = request.check(&export) {
            let end = command.offset.checked_add(u64::from(command.length));
            prop_assert!(end.is_some_and(|end| end <= export.size_bytes));
            prop_assert!((command.offset | u64::from(command.length)).is_multiple_of(512));
            prop_assert_eq!(command.length == 0, command.action == Action::Flush);
            if matches!(command.action, Action::Read | Action::Write) {
                prop_assert!(command.length <= MAX_PAYLOAD_BYTES && request.payload_fits());
            }
        }
    }

    #[test]
    fn a_request_waits_for_its_last_byte(ask in any_ask(), cut in 0..28_usize) {
        prop_assert_eq!(Request::take(&ask.to_bytes()[..cut]), Ok(None));
    }

    #[test]
    fn contents_in_memory_are_what_was_written_last(
        steps in vec((any::<bool>(), any::<Index>(), 1..40_u64, any::<u8>()), 1..60)
    ) {
        const BLOCKS: usize = 256;
        let contents = Contents::in_memory(MIB);
        let mut model = vec![0_u8; BLOCKS * 512];
        for (zero, at, blocks, byte) in steps {
            let at = at.index(BLOCKS);
            let blocks = (blocks as usize).min(BLOCKS - at);
            let range = at * 512..(at + blocks) * 512;
            let offset = range.start as u64;
            if zero {
                contents.zero(offset, range.len() as u64).expect("it is in memory");
            } else {
                contents.write(offset, &vec![byte; range.len()]).expect("there is room");
            }
            model[range].fill(if zero { 0 } else { byte });
        }
        let mut found = vec![1; model.len()];
        contents.read(0, &mut found).expect("it is in memory");
        prop_assert_eq!(found, model);
    }
}

#[test]
fn a_name_that_is_not_there_is_told_and_can_be_put_right() {
    let (step, out) = negotiate(&after_greeting(&[go("another"), go("")]), 4096);
    assert_eq!(step, Ok(Step::Agreed { structured: false }));
    assert_eq!(
        kinds(&out),
        [answer::ERR_UNKNOWN, answer::INFO, answer::INFO, answer::ACK]
    );
}

#[test]
fn an_option_may_not_announce_more_data_than_is_ever_needed() {
    let mut words = after_greeting(&[asked(option::LIST, &[])]);
    let at = words.len() - 4;
    words[at..].copy_from_slice(&(MAX_OPTION_BYTES + 1).to_be_bytes());
    let (step, _) = negotiate(&words, 4096);
    let told = Violation::OptionLength {
        option: option::LIST,
        length: MAX_OPTION_BYTES + 1,
    };
    assert_eq!(step, Err(told));
}

#[test]
fn another_word_than_a_requests_is_noticed_before_the_rest_has_come() {
    assert_eq!(Request::take(b"GET "), Err(Violation::Magic));
}

#[test]
fn what_does_not_fit_gets_the_error_that_the_protocol_gives_it() {
    let size = export().size_bytes;
    let faults = [
        (command::READ, size, 512, Fault::Invalid),
        (command::TRIM, size - 512, 1024, Fault::Invalid),
        (command::WRITE, size, 512, Fault::NoSpace),
        (command::WRITE_ZEROES, size, 512, Fault::NoSpace),
        (command::READ, 0, MAX_PAYLOAD_BYTES + 512, Fault::Invalid),
        (command::READ, 1, 512, Fault::Invalid),
        (command::FLUSH, 512, 0, Fault::Invalid),
        (5, 0, 512, Fault::Invalid),
    ];
    for (kind, offset, length, fault) in faults {
        let ask = Ask {
            kind,
            offset,
            length,
            ..Ask::read(0, 0, 0)
        };
        assert_eq!(taken(&ask).check(&export()), Err(fault), "{ask:?}");
    }
}

#[test]
fn contents_that_are_full_take_no_more_until_there_is_room_again() {
    let contents = Contents::in_memory(8192);
    assert_eq!(contents.write(0, &[1; 8192]), Ok(()));
    assert_eq!(contents.write(4096, &[2; 4096]), Ok(()));
    assert_eq!(contents.write(MIB, &[3; 512]), Err(Fault::NoSpace));
    assert_eq!(contents.zero(0, 4096), Ok(()));
    assert_eq!(contents.write(MIB, &[3; 512]), Ok(()));
}

#[test]
fn waking_costs_in_proportion_between_what_was_measured() {
    let point = |pause_ns, command_ns| AfterPause {
        pause_ns,
        command_ns,
    };
    let cost = Cost::measured(
        10_000,
        &[
            point(60_000, 20_000),
            point(160_000, 15_000),
            point(260_000, 40_000),
        ],
        1 << 20,
    );
    // A longer pause never costs less than a shorter one: a measurement that says so was disturbed.
    assert_eq!(cost.by_pause()[2], point(160_000, 20_000));
    let pauses = [
        0,
        10_000,
        35_000,
        60_000,
        160_000,
        210_000,
        260_000,
        u64::MAX,
    ];
    let waking = pauses.map(|pause_ns| cost.of_waking(pause_ns));
    assert_eq!(
        waking,
        [0, 0, 5_000, 10_000, 10_000, 20_000, 30_000, 30_000]
    );
    assert_eq!((cost.of(512), cost.of(4096 + MIB)), (10_000, 10_000 + MIB));
    assert_eq!(Cost::fixed(7, 0).of_waking(u64::MAX), 0);
}

#[test]
fn places_are_given_out_once() {
    let places = Places::new(2);
    let (one, two) = (places.take(), places.take());
    assert!(one.is_some() && two.is_some());
    for _ in 0..2 {
        assert!(places.take().is_none(), "who gets none gives none back");
    }
    drop(one);
    assert!(places.take().is_some());
}

/// Returns the shortest of several round trips to a drive that takes 2 ms, served at a given cost.
fn shortest_round_trip(cost: Cost) -> Duration {
    let shared = Shared {
        export: export(),
        contents: Contents::seeded(0, 0),
        backing: Backing::Fixed(2_000_000),
        clock: Clock::starting_at(0),
        cost,
        flight: Room::new(SHARED_BYTES),
        places: Places::of_this_host(),
        tally: Tally::default(),
        stopping: AtomicBool::new(false),
    };
    let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
    thread::scope(|scope| {
        scope.spawn(|| session::serve(theirs.into(), &shared, &Activity::starting_at(0)));
        let mut client = Client::connect(ours.into()).expect("the session greets");
        let mut trip = || {
            let began = Instant::now();
            let ask = Ask::read(0, 0, 4096).to_bytes();
            client.send(&ask).expect("the session reads");
            client.reply().expect("the session replies");
            client.receive(4096).expect("with data");
            began.elapsed()
        };
        (0..20).map(|_| trip()).min().expect("twenty")
    })
}

/// Only the shortest of twenty round trips counts: a busy host makes the others longer, and none shorter.
#[test]
fn replies_come_early_by_what_serving_costs_after_such_a_pause() {
    let taken = Duration::from_millis(2);
    assert!(shortest_round_trip(Cost::fixed(0, 0)) >= taken);
    let sleeper = AfterPause {
        pause_ns: 1_500_000,
        command_ns: 1_500_000,
    };
    let early = shortest_round_trip(Cost::measured(0, &[sleeper], 0));
    assert!(early + Duration::from_nanos(sleeper.command_ns) >= taken);
    assert!(early < taken, "{early:?}");
}
