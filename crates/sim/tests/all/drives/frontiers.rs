//! Write amplification of hot and cold writes with one write frontier or two, from a mean-field model.
//!
//! After Van Houdt: "Performance of garbage collection algorithms for flash-based solid state drives with hot/cold data",
//! Performance Evaluation 70(10), 2013 (one frontier), and "On the necessity of hot and cold data identification to reduce the
//! write amplification in flash-based SSDs", Performance Evaluation 82, 2014 (two: one for host writes, one for moves).

/// Hot and cold writes to blocks; collection takes the emptiest of `drawn` random ones.
#[derive(Debug, Clone, Copy)]
pub struct HotCold {
    /// Units of a block, and the share of all units that holds data.
    pub units: usize,
    pub rho: f64,
    pub hot_writes: f64,
    pub hot_data: f64,
    pub drawn: i32,
}

/// Shares of blocks by their valid hot units (row) and cold units (column).
type Shares = Vec<Vec<f64>>;

/// The steady state is reached when one collection per block changes no share by more than this.
const STEADY: f64 = 1e-7;
/// Smaller shares of blocks are not followed.
const LEAST: f64 = 1e-10;
/// Steps after which the contents of blocks of moved units are computed anew.
const REFRESH: u32 = 20;
/// Share of all blocks that is collected in a step.
const STEP: f64 = 0.01;

impl HotCold {
    /// Units programmed for each host write.
    pub fn amplification(self, merged: bool) -> f64 {
        let b = self.units;
        let mut shares: Shares = vec![vec![0.0; b + 1]; b + 1];
        // At first all blocks are alike, with the mean number of valid units.
        let hot = (self.rho * b as f64 * self.hot_data).round() as usize;
        let cold = (self.rho * b as f64).round() as usize - hot;
        shares[hot][cold] = 1.0;
        let mut moving = Moving::new(b);
        for step in 0.. {
            let refreshed = step % REFRESH == 0;
            let chosen = self.chosen(&shares);
            let moved = moments(&chosen);
            let written = b as f64 - moved.0 - moved.1;
            if refreshed && !merged {
                moving.collect(&chosen);
            }
            let fresh = self.fresh(&chosen, moved, &moving, merged);
            let changed = self.step(&mut shares, &chosen, &fresh, written);
            if changed < STEADY * STEP && !refreshed {
                return b as f64 / written;
            }
        }
        f64::NAN
    }

    /// Distribution of victims.
    fn chosen(self, shares: &Shares) -> Shares {
        let b = self.units;
        let mut of_sum = vec![0.0; b + 2];
        for_each(b, |i, j| of_sum[i + j] += shares[i][j]);
        let mut at_least = vec![0.0; b + 2];
        for valid in (0..=b).rev() {
            at_least[valid] = at_least[valid + 1] + of_sum[valid];
        }
        let mut chosen = vec![vec![0.0; b + 1]; b + 1];
        for_each(b, |i, j| {
            let valid = i + j;
            if of_sum[valid] > 0.0 {
                let least = at_least[valid].powi(self.drawn) - at_least[valid + 1].powi(self.drawn);
                chosen[i][j] = least * shares[i][j] / of_sum[valid];
            }
        });
        chosen
    }

    /// Distribution of newly written blocks.
    fn fresh(self, chosen: &Shares, moved: (f64, f64), moving: &Moving, merged: bool) -> Shares {
        let b = self.units;
        let mut fresh = vec![vec![0.0; b + 1]; b + 1];
        if !merged {
            // This share of newly written blocks holds moved units, and the others hold host writes.
            let of_moved = (moved.0 + moved.1) / b as f64;
            let of_host = binomial(b, self.hot_writes);
            for hot in 0..=b {
                let cold = b - hot;
                fresh[hot][cold] =
                    of_host[hot] * (1.0 - of_moved) + moving.full[hot][cold] * of_moved;
            }
            return fresh;
        }
        // Host writes fill the rest of a block.
        let filled: Vec<Vec<f64>> = (0..=b).map(|n| binomial(n, self.hot_writes)).collect();
        for_each(b, |i, j| {
            let room = b - i - j;
            for hot in 0..=room {
                fresh[i + hot][b - i - hot] += chosen[i][j] * filled[room][hot];
            }
        });
        fresh
    }

    /// Collects a small share of the blocks. Returns the largest change.
    fn step(self, shares: &mut Shares, chosen: &Shares, fresh: &Shares, host: f64) -> f64 {
        let b = self.units;
        let held = self.rho * b as f64;
        let hot_rate = host * self.hot_writes / (self.hot_data * held);
        let cold_rate = host * (1.0 - self.hot_writes) / ((1.0 - self.hot_data) * held);
        let mut changed = 0.0_f64;
        // From full blocks down, each state gains what the state with one unit more loses after the step. This implicit step is
        // stable for any length.
        for valid in (0..=b).rev() {
            for i in 0..=valid {
                let j = valid - i;
                let mut flow = fresh[i][j] - chosen[i][j];
                if valid < b {
                    flow += hot_rate * (i + 1) as f64 * shares[i + 1][j];
                    flow += cold_rate * (j + 1) as f64 * shares[i][j + 1];
                }
                let loses = hot_rate * i as f64 + cold_rate * j as f64;
                let after = (shares[i][j] + STEP * flow) / (1.0 + STEP * loses);
                changed = changed.max((after - shares[i][j]).abs());
                shares[i][j] = after.max(0.0);
            }
        }
        changed
    }
}

/// The frontier of moved units: contents of its open block and of its full blocks.
struct Moving {
    open: Shares,
    full: Shares,
    choose: Vec<Vec<f64>>,
}

impl Moving {
    fn new(b: usize) -> Self {
        let nothing = vec![vec![0.0; b + 1]; b + 1];
        let mut open = nothing.clone();
        open[0][0] = 1.0;
        let mut full = nothing;
        full[b / 2][b - b / 2] = 1.0;
        let mut choose = vec![vec![1.0; b + 1]; b + 1];
        for n in 1..=b {
            for k in 1..n {
                choose[n][k] = choose[n - 1][k - 1] + choose[n - 1][k];
            }
        }
        Self { open, full, choose }
    }

    /// Moves the valid units of one more victim here. A random selection fills the open block, and the rest begins the next.
    fn collect(&mut self, chosen: &Shares) {
        let b = chosen.len() - 1;
        let nothing = vec![vec![0.0; b + 1]; b + 1];
        let (mut open, mut full, mut filled) = (nothing.clone(), nothing, 0.0);
        for_each(b, |h, c| {
            let room = b - h - c;
            if self.open[h][c] < LEAST {
                return;
            }
            for_each(b, |i, j| {
                let share = self.open[h][c] * chosen[i][j];
                if share < LEAST {
                    return;
                }
                if i + j < room {
                    open[h + i][c + j] += share;
                    return;
                }
                for x in room.saturating_sub(j)..=i.min(room) {
                    let y = room - x;
                    let ways = self.choose[i][x] * self.choose[j][y] / self.choose[i + j][room];
                    full[h + x][c + y] += share * ways;
                    open[i - x][j - y] += share * ways;
                    filled += share * ways;
                }
            });
        });
        self.open = open;
        if filled > 0.0 {
            full.iter_mut().flatten().for_each(|share| *share /= filled);
            self.full = full;
        }
    }
}

fn for_each(b: usize, mut of: impl FnMut(usize, usize)) {
    for i in 0..=b {
        for j in 0..=b - i {
            of(i, j);
        }
    }
}

/// Mean numbers of hot and cold units.
fn moments(shares: &Shares) -> (f64, f64) {
    let (mut hot, mut cold) = (0.0, 0.0);
    for (i, row) in shares.iter().enumerate() {
        for (j, share) in row.iter().enumerate() {
            hot += i as f64 * share;
            cold += j as f64 * share;
        }
    }
    (hot, cold)
}

fn binomial(n: usize, p: f64) -> Vec<f64> {
    let mut shares = vec![0.0; n + 1];
    shares[0] = 1.0;
    for drawn in 1..=n {
        for hits in (0..=drawn).rev() {
            let missed = if hits < drawn {
                shares[hits] * (1.0 - p)
            } else {
                0.0
            };
            let hit = if hits > 0 { shares[hits - 1] * p } else { 0.0 };
            shares[hits] = missed + hit;
        }
    }
    shares
}
