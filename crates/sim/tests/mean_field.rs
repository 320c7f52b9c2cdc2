//! Write amplification of uniform random writes against the mean-field theory, solved here from its formulas.

// The figures of a test that fails.
#![allow(clippy::print_stdout)]

use sim::draw::mix;
use sim::ftl::{Flash, Ftl};
use sim::gc::{DChoices, Fifo, Greedy, VictimRule};

struct NoFlash;
impl Flash for NoFlash {
    fn program_host(&mut self, _: u32) {}
    fn read_for_move(&mut self, _: u32) {}
    fn program_moved(&mut self, _: u32) {}
    fn erase(&mut self, _: u32) {}
}

fn bisect(mut low: f64, mut high: f64, below: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// Van Houdt, SIGMETRICS 2013: `H i (s_i - s_(i+1)) / (rho b) = 1 - s_i^d`, `H` so that the `s_i` sum to `rho b`; `A = b / H`.
fn mean_field(rho: f64, b: u32, d: f64) -> f64 {
    let held = rho * f64::from(b);
    let total = |h: f64| {
        let (mut next, mut sum) = (0.0_f64, 0.0_f64);
        for i in (1..=b).rev() {
            let slope = h * f64::from(i) / held;
            next = bisect(next, 1.0, |s| slope * (s - next) < 1.0 - s.powf(d));
            sum += next;
        }
        sum
    };
    // More host writes for each collection leave fewer valid units.
    let h = bisect(1e-6, f64::from(b), |h| total(h) > held);
    f64::from(b) / h
}

/// Desnoyers, SYSTOR 2012: `A = alpha / (alpha + W0(-alpha e^-alpha))`, `alpha = 1 / rho`.
fn fifo(rho: f64) -> f64 {
    let alpha = 1.0 / rho;
    let target = -alpha * (-alpha).exp();
    // W0 of a number in (-1/e, 0) lies in (-1, 0), where w e^w increases.
    let w = bisect(-1.0, 0.0, |w| w * w.exp() < target);
    alpha / (alpha + w)
}

const SUPERBLOCKS: u32 = 2048;
const UNITS: u32 = 256;

/// Write amplification after four full overwrites, and the utilisation at which theory is to be read.
fn simulate(spare: f64, rule: impl VictimRule) -> (f64, f64) {
    let logical = (f64::from(SUPERBLOCKS * UNITS) * (1.0 - spare)) as u32;
    let mut ftl = Ftl::new(logical, SUPERBLOCKS, UNITS, 4, rule);
    for unit in 0..logical {
        ftl.write(unit, &mut NoFlash);
    }
    let mut n = 0;
    let mut overwrite = |ftl: &mut Ftl<_>, times: u64| {
        for _ in 0..times * u64::from(logical) {
            let unit = ((u128::from(mix(7, n)) * u128::from(logical)) >> 64) as u32;
            n += 1;
            ftl.write(unit, &mut NoFlash);
        }
    };
    overwrite(&mut ftl, 4);
    ftl.reset_counts();
    overwrite(&mut ftl, 2);
    (
        ftl.counts().write_amplification().unwrap(),
        ftl.effective_utilisation(),
    )
}

fn assert_near(what: &str, (got, rho): (f64, f64), theory: f64) {
    let ratio = got / theory;
    println!("{what}: simulated {got:.3}, theory {theory:.3} at rho {rho:.5}, ratio {ratio:.4}");
    assert!(
        (ratio - 1.0).abs() <= 0.02,
        "{what}: simulated {got:.3}, theory {theory:.3} at rho {rho:.5}"
    );
}

fn check_all(spare: f64) {
    for d in [1, 2, 4, 8] {
        let got = simulate(spare, DChoices::new(d, 1));
        let theory = if d == 1 {
            1.0 / (1.0 - got.1)
        } else {
            mean_field(got.1, UNITS, f64::from(d))
        };
        assert_near(&format!("spare {spare}, d = {d}"), got, theory);
    }
    let got = simulate(spare, Greedy);
    assert_near(
        &format!("spare {spare}, greedy"),
        got,
        mean_field(got.1, UNITS, 3000.0),
    );
    let got = simulate(spare, Fifo::default());
    assert_near(&format!("spare {spare}, FIFO"), got, fifo(got.1));
}

#[test]
fn spare_of_7_per_cent() {
    check_all(0.07);
}

#[test]
fn spare_of_12_5_per_cent() {
    check_all(0.125);
}

#[test]
fn spare_of_25_per_cent() {
    check_all(0.25);
}

#[test]
fn spare_of_28_per_cent() {
    check_all(0.28);
}
