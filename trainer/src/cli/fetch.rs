//! `permafrost fetch`

use clap::Args;

use super::error::CliError;
use crate::demo;

/// Flags of `permafrost fetch`: none.
#[derive(Args, Debug)]
pub(super) struct FetchArgs {}

impl FetchArgs {
    /// Fetches unless it is there already; prints the path.
    pub fn run(self) -> Result<(), CliError> {
        let path = demo::smollm2(&mut |step| errln!("{step}"))?;
        outln!("{}", path.display());
        Ok(())
    }
}
