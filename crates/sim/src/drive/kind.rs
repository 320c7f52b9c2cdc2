//! The kinds of simulated drive. Each combination of layout, map and collection rule is compiled separately, so that a plain
//! drive does not pay for the features of others.

use serde::{Deserialize, Serialize};

use crate::drive::model::Drive;
use crate::ftl::{CostBenefit, DChoices, Fifo, Ftl, Greedy, InPlace, PartOfMap, Planes};
use crate::profile::Rule;
use crate::profile::spec::{DriveSpec, Layout, MapMemory, UNIT};

/// For each collection rule, one kind with the whole map in memory, one with part of it, and one that collects by planes. One
/// further kind has no collection.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Kind {
    Greedy(Drive<Ftl<Greedy>>),
    DChoices(Drive<Ftl<DChoices>>),
    Fifo(Drive<Ftl<Fifo>>),
    CostBenefit(Drive<Ftl<CostBenefit>>),
    GreedyPartMap(Drive<Ftl<Greedy>, PartOfMap>),
    DChoicesPartMap(Drive<Ftl<DChoices>, PartOfMap>),
    FifoPartMap(Drive<Ftl<Fifo>, PartOfMap>),
    CostBenefitPartMap(Drive<Ftl<CostBenefit>, PartOfMap>),
    GreedyPlanes(Drive<Planes<Greedy>>),
    DChoicesPlanes(Drive<Planes<DChoices>>),
    FifoPlanes(Drive<Planes<Fifo>>),
    CostBenefitPlanes(Drive<Planes<CostBenefit>>),
    InPlace(Drive<InPlace>),
}

/// Evaluates the same expression on a drive of any kind.
macro_rules! each {
    ($kind:expr, $drive:ident => $body:expr) => {
        match $kind {
            Kind::Greedy($drive) => $body,
            Kind::DChoices($drive) => $body,
            Kind::Fifo($drive) => $body,
            Kind::CostBenefit($drive) => $body,
            Kind::GreedyPartMap($drive) => $body,
            Kind::DChoicesPartMap($drive) => $body,
            Kind::FifoPartMap($drive) => $body,
            Kind::CostBenefitPartMap($drive) => $body,
            Kind::GreedyPlanes($drive) => $body,
            Kind::DChoicesPlanes($drive) => $body,
            Kind::FifoPlanes($drive) => $body,
            Kind::CostBenefitPlanes($drive) => $body,
            Kind::InPlace($drive) => $body,
        }
    };
}
pub(crate) use each;

impl Kind {
    /// Creates an erased drive; `seed` seeds the random draws of the collection rule.
    pub(crate) fn of(spec: &DriveSpec, rule: Rule, seed: u64) -> Self {
        match (spec.options.layout, spec.options.map_memory) {
            (Layout::InPlace, _) => Self::InPlace(Drive::in_place(spec)),
            (Layout::Planes, _) => Self::by_planes(spec, rule, seed),
            (Layout::Superblocks, None) => Self::plain(spec, rule, seed),
            (Layout::Superblocks, Some(memory)) => Self::with_part_of_map(spec, rule, seed, memory),
        }
    }

    fn plain(spec: &DriveSpec, rule: Rule, seed: u64) -> Self {
        match rule {
            Rule::Greedy => Self::Greedy(Drive::new(spec, Greedy)),
            Rule::DChoices(d) => Self::DChoices(Drive::new(spec, DChoices::new(d, seed))),
            Rule::Fifo => Self::Fifo(Drive::new(spec, Fifo::default())),
            Rule::CostBenefit => Self::CostBenefit(Drive::new(spec, cost_benefit(spec))),
        }
    }

    fn with_part_of_map(spec: &DriveSpec, rule: Rule, seed: u64, memory: MapMemory) -> Self {
        let units = (spec.user_bytes / UNIT) as u32;
        let together = spec.options.units_together();
        let map = PartOfMap::new(units, together, spec.geometry.units_per_read(), memory);
        match rule {
            Rule::Greedy => {
                Self::GreedyPartMap(Drive::assemble(spec, Ftl::of_drive(spec, Greedy), map))
            }
            Rule::DChoices(d) => {
                let ftl = Ftl::of_drive(spec, DChoices::new(d, seed));
                Self::DChoicesPartMap(Drive::assemble(spec, ftl, map))
            }
            Rule::Fifo => {
                let ftl = Ftl::of_drive(spec, Fifo::default());
                Self::FifoPartMap(Drive::assemble(spec, ftl, map))
            }
            Rule::CostBenefit => {
                let ftl = Ftl::of_drive(spec, cost_benefit(spec));
                Self::CostBenefitPartMap(Drive::assemble(spec, ftl, map))
            }
        }
    }

    fn by_planes(spec: &DriveSpec, rule: Rule, seed: u64) -> Self {
        match rule {
            Rule::Greedy => Self::GreedyPlanes(Drive::of_planes(spec, &Greedy)),
            Rule::DChoices(d) => {
                Self::DChoicesPlanes(Drive::of_planes(spec, &DChoices::new(d, seed)))
            }
            Rule::Fifo => Self::FifoPlanes(Drive::of_planes(spec, &Fifo::default())),
            Rule::CostBenefit => {
                Self::CostBenefitPlanes(Drive::of_planes(spec, &cost_benefit(spec)))
            }
        }
    }
}

fn cost_benefit(spec: &DriveSpec) -> CostBenefit {
    CostBenefit::new(spec.geometry.superblocks as usize)
}
