//! What is recorded: histograms, interval rows on one clock, totals and the append log.
