//! One connection from its greeting to its end, on its own thread.
//!
//! The thread sleeps until the client sends something or a reply is nearly due. It spins for the remaining time,
//! because a sleep ends some tens of microseconds late. If there are enough processors, it also stays awake for a
//! moment after a reply, because a client that was answered asks again.
//!
//! The thread never waits for the client to take a reply while there is something to read. It does not read on while
//! too many replies are held.

use std::io;
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use metrics::Histogram;
use rustix::thread::set_current_timer_slack;

use crate::activity::Activity;
use crate::flight::Flight;
use crate::input::{Input, STEP_BYTES};
use crate::negotiation::{Negotiation, Step, Violation};
use crate::outbox::{Held, Outbox, Say};
use crate::protocol::{Fault, REQUEST_BYTES};
use crate::request::{Action, Command, Request};
use crate::room::Taken;
use crate::shared::{LOOK_EVERY, Shared};
use crate::socket::{Moved, wait};
use crate::tally::Ending;

/// Most unanswered requests of one client; at this number the server stops reading from the client.
pub const MAX_HELD: usize = 1024;
/// How long a client may take to complete the negotiation.
const NEGOTIATION_LIMIT: Duration = Duration::from_secs(10);
/// How long held replies are still sent when the server ends.
const DRAIN_LIMIT: Duration = Duration::from_secs(2);
/// The thread does not sleep while a reply is due within this time.
const SPIN_NS: u64 = 50_000;
/// How long the thread looks for the next request after a reply before it sleeps.
const AWAKE_NS: u64 = 100_000;

/// Stage of a connection.
#[derive(Debug)]
enum Phase {
    Negotiating(Negotiation),
    Serving,
    /// Nothing more is read, but replies that are held are still sent.
    Closing,
}

#[derive(Debug)]
struct Session<'a> {
    shared: &'a Shared,
    activity: &'a Activity,
    socket: OwnedFd,
    input: Input,
    outbox: Outbox,
    phase: Phase,
    structured: bool,
    flight: Flight<'a>,
    /// A request whose payload has not arrived completely, and the memory reserved for it.
    pending: Option<(Request, Option<Taken<'a>>)>,
    /// Remaining bytes of a payload that is not kept.
    to_skip: u64,
    began: Instant,
    stopping_since: Option<Instant>,
    /// When the last reply was sent, in ns on the drive's clock; 0 before the first.
    replied_ns: u64,
    /// Place among the threads that stay awake, taken while this thread does so.
    place: Option<Taken<'a>>,
    ending: Ending,
    lateness: Histogram,
}

/// Serves one client until it goes away, the server ends, or `activity` asks it to leave.
pub fn serve(socket: OwnedFd, shared: &Shared, activity: &Activity) {
    // Limits how much longer than asked a sleep may last. If this fails, replies are a little later, which is counted.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
    let mut outbox = Outbox::default();
    let negotiation = Negotiation::begin(outbox.now());
    let mut session = Session {
        shared,
        activity,
        socket,
        input: Input::default(),
        outbox,
        phase: Phase::Negotiating(negotiation),
        structured: false,
        flight: Flight::new(&shared.flight),
        pending: None,
        to_skip: 0,
        began: Instant::now(),
        stopping_since: None,
        replied_ns: 0,
        place: None,
        ending: Ending::Clean,
        lateness: Histogram::new(),
    };
    shared.tally.began();
    if session.run().is_err() && session.ending == Ending::Clean {
        session.ending = Ending::Broken;
    }
    let dropped = session.unanswered();
    shared
        .tally
        .ended(session.ending, dropped, &session.lateness);
    session.end().land(shared);
}

impl<'a> Session<'a> {
    fn run(&mut self) -> io::Result<()> {
        loop {
            if let Err(_violation) = self.take_input() {
                self.ending = Ending::Violated;
                self.phase = Phase::Closing;
            }
            self.flight.give(self.shared, &mut self.outbox);
            self.send_due()?;
            if self.is_over() {
                return Ok(());
            }
            self.wait()?;
        }
    }

    /// Closes the connection. Returns the client's work that the drive has been given.
    fn end(self) -> Flight<'a> {
        self.flight
    }

    fn is_over(&mut self) -> bool {
        if self.shared.is_stopping() && self.stopping_since.is_none() {
            self.stopping_since = Some(Instant::now());
            self.phase = Phase::Closing;
        }
        if matches!(self.phase, Phase::Negotiating(_)) && self.began.elapsed() > NEGOTIATION_LIMIT {
            self.ending = Ending::Violated;
            return true;
        }
        if self.activity.is_to_leave() {
            self.ending = Ending::Idle;
            return true;
        }
        let drained = self.outbox.is_sent() && self.unanswered() == 0;
        let too_long = |since: Instant| since.elapsed() > DRAIN_LIMIT;
        matches!(self.phase, Phase::Closing)
            && (drained || self.stopping_since.is_some_and(too_long))
    }

    /// Returns the number of requests that have arrived and whose replies have not been released.
    fn unanswered(&self) -> usize {
        self.outbox.waiting() + self.flight.waiting()
    }

    fn wants_input(&self) -> bool {
        let room = match self.phase {
            // Answers to options are not held but written at once.
            Phase::Negotiating(_) => !self.outbox.is_full(),
            Phase::Serving => self.unanswered() < MAX_HELD,
            Phase::Closing => false,
        };
        room && !matches!(self.phase, Phase::Closing)
    }

    /// Processes all complete messages that have arrived.
    fn take_input(&mut self) -> Result<(), Violation> {
        while self.wants_input() && !self.input.bytes().is_empty() {
            let goes_on = match self.phase {
                Phase::Negotiating(_) => self.negotiate()?,
                Phase::Serving => self.take_request()?,
                Phase::Closing => false,
            };
            if !goes_on {
                break;
            }
        }
        Ok(())
    }

    fn negotiate(&mut self) -> Result<bool, Violation> {
        let Phase::Negotiating(negotiation) = &mut self.phase else {
            return Ok(false);
        };
        let input = self.input.bytes();
        let (taken, step) = negotiation.take(input, &self.shared.export, self.outbox.now())?;
        self.input.consume(taken);
        match step {
            Step::More => {}
            Step::Agreed { structured } => {
                self.structured = structured;
                self.phase = Phase::Serving;
                self.activity.moved(self.shared.clock.now_ns());
            }
            Step::Aborted => self.phase = Phase::Closing,
        }
        Ok(taken > 0)
    }

    /// Processes the next request or a part of its payload. Returns whether there may be more to process.
    fn take_request(&mut self) -> Result<bool, Violation> {
        if self.to_skip > 0 {
            let skipped = self.to_skip.min(self.input.bytes().len() as u64);
            self.input.consume(skipped as usize);
            self.to_skip -= skipped;
            return Ok(skipped > 0);
        }
        let (request, room) = if let Some(pending) = self.pending.take() {
            pending
        } else {
            let Some(request) = Request::take(self.input.bytes())? else {
                return Ok(false);
            };
            self.input.consume(REQUEST_BYTES);
            match self.room_for(&request) {
                Ok(room) => (request, room),
                Err(fault) => {
                    self.to_skip = u64::from(request.payload_bytes());
                    self.refuse(&request, fault);
                    return Ok(true);
                }
            }
        };
        let payload_bytes = request.payload_bytes() as usize;
        if self.input.bytes().len() < payload_bytes {
            self.pending = Some((request, room));
            return Ok(false);
        }
        // The payload goes to the contents, which take memory of their own.
        drop(room);
        if request.says_goodbye() {
            self.phase = Phase::Closing;
            return Ok(false);
        }
        self.carry_out(&request, payload_bytes);
        self.input.consume(payload_bytes);
        Ok(true)
    }

    /// Reserves memory for a payload that does not fit into the buffer that every connection has.
    fn room_for(&self, request: &Request) -> Result<Option<Taken<'a>>, Fault> {
        if !request.payload_fits() {
            return Err(Fault::Invalid);
        }
        let bytes = request.payload_bytes();
        if bytes as usize <= STEP_BYTES {
            return Ok(None);
        }
        self.shared.contents.room_for(u64::from(bytes)).map(Some)
    }

    fn carry_out(&mut self, request: &Request, payload_bytes: usize) {
        let arrived_ns = self.shared.clock.now_ns();
        self.activity.moved(arrived_ns);
        let payload = &self.input.bytes()[..payload_bytes];
        let checked = request.check(&self.shared.export);
        let changed = checked.and_then(|command| {
            self.change_contents(&command, payload)?;
            Ok(command)
        });
        let command = match changed {
            Ok(command) => command,
            Err(fault) => return self.refuse(request, fault),
        };
        let say = match command.action {
            Action::Read => Say::Data {
                offset: command.offset,
                length: command.length,
            },
            _ => Say::Done,
        };
        let held = Held {
            send_ns: arrived_ns,
            done_ns: arrived_ns,
            cookie: request.cookie,
            say,
            bytes: command.moved_bytes(),
        };
        self.flight.ask(command, held);
    }

    /// Changes the contents. Readers see the data as soon as it has arrived, as they would from a drive's write buffer.
    fn change_contents(&self, command: &Command, payload: &[u8]) -> Result<(), Fault> {
        match command.action {
            Action::Write => self.shared.contents.write(command.offset, payload),
            Action::Trim | Action::ZeroByTrim | Action::ZeroByWrite => self
                .shared
                .contents
                .zero(command.offset, u64::from(command.length)),
            Action::Read | Action::Flush => Ok(()),
        }
    }

    fn refuse(&mut self, request: &Request, fault: Fault) {
        self.shared.tally.refused();
        let now_ns = self.shared.clock.now_ns();
        self.activity.moved(now_ns);
        self.outbox.hold(Held {
            send_ns: now_ns,
            done_ns: now_ns,
            cookie: request.cookie,
            say: Say::Failed {
                fault,
                read: request.is_read(),
            },
            bytes: 0,
        });
    }

    /// Releases the replies that are due, and sends what the client takes.
    fn send_due(&mut self) -> io::Result<()> {
        let contents = &self.shared.contents;
        let now_ns = self.shared.clock.now_ns();
        loop {
            let by_ns = now_ns + self.waking_ns();
            let Some(held) = self.outbox.release(by_ns, self.structured, contents) else {
                break;
            };
            self.replied_ns = now_ns;
            if !matches!(held.say, Say::Failed { .. }) {
                self.lateness.record(by_ns - held.send_ns);
                if now_ns > held.done_ns && self.shared.backing.keeps_time() {
                    self.shared.tally.late();
                }
            }
        }
        self.outbox.send(&self.socket, contents)?;
        if self.outbox.is_sent() && self.unanswered() > 0 {
            // The client waits for the drive, however long that takes, so it is not idle.
            self.activity.moved(now_ns);
        }
        Ok(())
    }

    /// Returns how much earlier the next reply has to be sent because the client has been waiting, in ns.
    fn waking_ns(&self) -> u64 {
        self.outbox.next().map_or(0, |held| {
            let pause_ns = held.done_ns.saturating_sub(self.replied_ns);
            self.shared.cost.of_waking(pause_ns)
        })
    }

    /// Sleeps until there is something to do, then receives what has arrived.
    fn wait(&mut self) -> io::Result<()> {
        let sending = !self.outbox.is_sent();
        let receiving = self.wants_input();
        let sleep = self.sleep(sending);
        if sleep.is_zero() {
            std::hint::spin_loop();
        } else {
            let ready = wait(&self.socket, [receiving, sending], sleep)?;
            if !ready.able {
                return if ready.gone {
                    Err(io::ErrorKind::ConnectionReset.into())
                } else {
                    Ok(())
                };
            }
        }
        let awaited = self.pending.as_ref();
        let awaited = awaited.map_or(0, |(request, _)| request.payload_bytes() as usize);
        if receiving && self.input.receive(&self.socket, awaited)? == Moved::Bytes(0) {
            self.client_ended();
        }
        Ok(())
    }

    fn sleep(&mut self, sending: bool) -> Duration {
        let now_ns = self.shared.clock.now_ns();
        if self.stays_awake(now_ns) {
            return Duration::ZERO;
        }
        // As long as the client does not take what was sent, nothing else can be sent.
        let next = if sending { None } else { self.outbox.next() };
        let due_ns = next.map(|next| next.send_ns.saturating_sub(self.waking_ns()));
        let given_ns = self.flight.goes_on_ns(&self.outbox);
        let Some(next_ns) = due_ns.into_iter().chain(given_ns).min() else {
            return LOOK_EVERY;
        };
        let left_ns = next_ns.saturating_sub(now_ns);
        Duration::from_nanos(left_ns.saturating_sub(SPIN_NS)).min(LOOK_EVERY)
    }

    /// Returns whether to look for the next request without sleeping.
    fn stays_awake(&mut self, now_ns: u64) -> bool {
        let answered = matches!(self.phase, Phase::Serving)
            && self.replied_ns > 0
            && now_ns.saturating_sub(self.replied_ns) < AWAKE_NS;
        if !answered {
            self.place = None;
        } else if self.place.is_none() {
            self.place = self.shared.places.take();
        }
        self.place.is_some()
    }

    fn client_ended(&mut self) {
        let in_the_middle =
            self.pending.is_some() || self.to_skip > 0 || !self.input.bytes().is_empty();
        if in_the_middle || matches!(self.phase, Phase::Negotiating(_)) {
            self.ending = Ending::Broken;
        }
        self.phase = Phase::Closing;
    }
}
