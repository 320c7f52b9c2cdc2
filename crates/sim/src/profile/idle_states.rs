//! Checks of the low-power states: their bounds and names.

use super::check::{Check, require};
use super::check_features::at_most;
use super::spec::RestSpec;
use super::{IdleState, Power, Protocol};

const OF_A_LINK: [&str; 3] = ["partial", "slumber", "devsleep"];

impl Power {
    pub(super) fn check_idle_states(&self, protocol: Protocol) -> Check {
        let states = &self.idle_states;
        let few = format!("there can be {} states", RestSpec::MOST);
        let listed = format!("a list of {}", states.len());
        require(
            states.len() <= RestSpec::MOST,
            "power.idle_states",
            listed,
            &few,
        )?;
        let mut draws = self.idle_mw.value;
        let mut reached_us = 0.0;
        for (at, state) in states.iter().enumerate() {
            self.check_name(protocol, at)?;
            let limit = format!("must be below {draws}, what the drive draws before it");
            let mw = state.mw.value;
            require(mw < draws, "power.idle_states.mw", mw, &limit)?;
            draws = mw;
            at_most("power.idle_states.entry_us", state.entry_us.value, 60e6)?;
            at_most("power.idle_states.exit_us", state.exit_us.value, 60e6)?;
            let after = state.after_ms.value;
            at_most("power.idle_states.after_ms", after, 1e8)?;
            let order = format!(
                "the state before it has been reached after {} ms, and not by then",
                reached_us / 1e3
            );
            let later = after * 1e3 >= reached_us;
            require(later, "power.idle_states.after_ms", after, &order)?;
            reached_us = after * 1e3 + state.entry_us.value;
        }
        Ok(())
    }

    fn check_name(&self, protocol: Protocol, at: usize) -> Check {
        let name = &self.idle_states[at].name;
        let field = "power.idle_states.name";
        if protocol == Protocol::Nvme {
            let working = self
                .states_w
                .as_ref()
                .map_or(1, |states| states.value.len());
            let expected = format!("ps{}", working + at);
            let why = format!("power states are numbered behind those that work: {expected}");
            return require(*name == expected, field, name, &why);
        }
        let place = |state: &IdleState| OF_A_LINK.iter().position(|known| *known == state.name);
        let before = at.checked_sub(1).and_then(|b| place(&self.idle_states[b]));
        let why = "states of a SATA link are partial, slumber and devsleep, in this order";
        let here = place(&self.idle_states[at]);
        require(here.is_some() && here > before, field, name, why)
    }
}
