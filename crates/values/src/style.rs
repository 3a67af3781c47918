//! How a session has its values written: what `bytea_output` and `intervalstyle` say.

use datafusion::common::config::{ConfigEntry, ConfigExtension, ConfigOptions, ExtensionOptions};
use datafusion::common::plan_err;
use std::any::Any;

/// The forms of values that have several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Style {
    /// `bytea_output`
    pub bytes: BytesStyle,
    /// `intervalstyle`
    pub interval: IntervalStyle,
}

/// How bytes are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum BytesStyle {
    /// `\x00ff`
    #[default]
    Hex,
    /// `\000\377`, and characters as they are.
    Escape,
}

/// How intervals are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum IntervalStyle {
    /// `1 year 2 mons 3 days 04:05:06`
    #[default]
    Postgres,
    /// `@ 1 year 2 mons 3 days 4 hours 5 mins 6 secs`
    Verbose,
    /// `+1-2 +3 +4:05:06`
    Standard,
    /// `P1Y2M3DT4H5M6S`
    Iso,
}

impl Style {
    /// The style that the values of the settings name.
    pub fn named(bytea_output: &str, intervalstyle: &str) -> Self {
        let bytes = match bytea_output {
            "escape" => BytesStyle::Escape,
            _ => BytesStyle::Hex,
        };
        let interval = match intervalstyle {
            "postgres_verbose" => IntervalStyle::Verbose,
            "sql_standard" => IntervalStyle::Standard,
            "iso_8601" => IntervalStyle::Iso,
            _ => IntervalStyle::Postgres,
        };
        Self { bytes, interval }
    }
}

/// A style in the engine's configuration, where rules of the analysis find it.
#[derive(Debug, Clone, Copy)]
struct Hung(Style);

impl ConfigExtension for Hung {
    const PREFIX: &'static str = "text_style";
}

impl ExtensionOptions for Hung {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn cloned(&self) -> Box<dyn ExtensionOptions> {
        Box::new(*self)
    }

    fn set(&mut self, key: &str, _: &str) -> datafusion::common::Result<()> {
        plan_err!("{key} is a setting of the session")
    }

    fn entries(&self) -> Vec<ConfigEntry> {
        Vec::new()
    }
}

impl Style {
    /// Hangs the style into a configuration.
    pub fn hang(self, options: &mut ConfigOptions) {
        options.extensions.insert(Hung(self));
    }

    /// The style that hangs in a configuration.
    pub fn hung(options: &ConfigOptions) -> Self {
        options.extensions.get::<Hung>().map_or_else(Self::default, |hung| hung.0)
    }
}
