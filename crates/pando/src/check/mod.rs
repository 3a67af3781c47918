//! `pando check`: says what a data directory contains, and whether it is sound.
//!
//! Exit codes: 0 it is sound, 1 it is damaged, 2 it is in use or no data directory.

mod damage;
mod document;
mod report;

use crate::arguments::CheckArguments;
use crate::reading::Reading;
use damage::Damage;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use store::inspection::{Inspection, inspect};
use store::journal::Error;
use store::journal::disk::{Disk, RealDisk};

/// Exit code of a directory that cannot be checked.
const EXIT_NOT_CHECKED: u8 = 2;

/// Checks a directory and prints what was found.
pub(crate) fn run(arguments: &CheckArguments) -> anyhow::Result<ExitCode> {
    let path = &arguments.directory;
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let reading = Reading::begin();
    let inspected = inspect(&disk, path, |part| reading.show("Reading the log", part));
    drop(reading);
    let (inspection, damages): (Option<Inspection>, Vec<Damage>) = match inspected {
        Ok(inspection) => {
            let damages = inspection.damages.iter().map(|error| Damage::of(error, path)).collect();
            (Some(inspection), damages)
        }
        Err(error @ (Error::Damaged { .. } | Error::Incomplete { .. })) => {
            (None, vec![Damage::of(&error, path)])
        }
        Err(error) => {
            eprintln!("pando: {error}");
            return Ok(ExitCode::from(EXIT_NOT_CHECKED));
        }
    };
    let mut out = io::stdout().lock();
    if arguments.json {
        let document = document::of(path, inspection.as_ref(), &damages);
        writeln!(out, "{document:#}")?;
    } else {
        report::write(&mut out, path, inspection.as_ref(), &damages)?;
    }
    out.flush()?;
    Ok(if damages.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
