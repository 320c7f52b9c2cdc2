//! Runs workloads on a drive of any kind.

use workload::Workload;

use crate::drive::{AnyDrive, Kind, each};
use crate::runner::error::SimError;
use crate::runner::options::Options;
use crate::runner::outcome::Outcome;
use crate::runner::owner::Owner;
use crate::runner::run;

impl AnyDrive {
    /// Runs a workload; see [`run`](crate::runner::run()).
    ///
    /// # Errors
    /// As for that function.
    pub fn run(
        &mut self,
        workload: &Workload,
        owner: &mut dyn Owner,
        options: Options,
    ) -> Result<Outcome, SimError> {
        let ran = each!(self.kind_mut(), drive => run::run(drive, workload, owner, options));
        let outcome = match &ran {
            Ok(outcome) => Some(outcome),
            Err(SimError::Log { measured, .. }) => measured.as_deref(),
            Err(_) => None,
        };
        if let Some(outcome) = outcome {
            self.count_host_bytes(
                outcome.host_bytes.read_bytes,
                outcome.host_bytes.written_bytes,
            );
        }
        ran
    }
}
