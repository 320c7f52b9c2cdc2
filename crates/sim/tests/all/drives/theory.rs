//! Write amplification by theory, computed from its formulas. `rho` is the share of the usable flash that holds data.

fn bisect(mut low: f64, mut high: f64, below: impl Fn(f64) -> bool) -> f64 {
    // After this many halvings the interval is below the resolution of a double.
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// The victim is the emptiest of `d` random blocks of `b` units. Van Houdt, SIGMETRICS 2013:
/// `H i (s_i - s_(i+1)) / (rho b) = 1 - s_i^d`, with `H` such that the `s_i` sum to `rho b`; `A = b / H`.
pub fn d_choices(rho: f64, b: u32, d: f64) -> f64 {
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

/// The victim is a random block: `d_choices` with `d = 1`.
pub fn drawn(rho: f64) -> f64 {
    1.0 / (1.0 - rho)
}

/// The victim is the emptiest of all blocks: `d_choices` with a `d` so large that more makes no difference.
pub fn greedy(rho: f64, b: u32) -> f64 {
    d_choices(rho, b, 3000.0)
}

/// The victim is the block closed longest ago. Desnoyers, SYSTOR 2012: `A = alpha / (alpha + W0(-alpha e^-alpha))` with
/// `alpha = 1 / rho`. Greedy approaches this from below as blocks grow.
pub fn fifo(rho: f64) -> f64 {
    let alpha = 1.0 / rho;
    let target = -alpha * (-alpha).exp();
    // W0 of a number in (-1/e, 0) lies in (-1, 0), where w e^w increases.
    let w = bisect(-1.0, 0.0, |w| w * w.exp() < target);
    alpha / (alpha + w)
}

/// Hot and cold data in separate flash with the best division of the spare: a lower bound for drives with large blocks.
/// `hot_writes` of the writes go to `hot_data` of the data.
pub fn separated(rho: f64, hot_writes: f64, hot_data: f64) -> f64 {
    let spare = 1.0 / rho - 1.0;
    let cost = |to_hot: f64| {
        let pool = |data: f64, share: f64| fifo(data / (data + share * spare));
        hot_writes * pool(hot_data, to_hot)
            + (1.0 - hot_writes) * pool(1.0 - hot_data, 1.0 - to_hot)
    };
    let splits = (1..200).map(|split| cost(f64::from(split) / 200.0));
    splits.fold(f64::INFINITY, f64::min)
}
