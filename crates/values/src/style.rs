//! The output style of a session: its settings `bytea_output` and `intervalstyle`.

use datafusion::common::config::{ConfigEntry, ConfigExtension, ConfigOptions, ExtensionOptions};
use datafusion::common::plan_err;
use std::any::Any;

/// The output formats of types that have several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Style {
    /// `bytea_output`
    pub bytes: BytesStyle,
    /// `intervalstyle`
    pub interval: IntervalStyle,
}

/// The output format of `bytea`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum BytesStyle {
    /// `\x00ff`
    #[default]
    Hex,
    /// `\000\377`; printable ASCII characters are not escaped.
    Escape,
}

/// The output format of `interval`.
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
    /// The style for the values of the two settings. An unknown value selects the default.
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

/// The style as an extension of the engine's configuration, which analyzer rules can read.
#[derive(Debug, Clone, Copy)]
struct StyleExtension(Style);

impl ConfigExtension for StyleExtension {
    const PREFIX: &'static str = "text_style";
}

impl ExtensionOptions for StyleExtension {
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
        plan_err!("{key} is a session setting")
    }

    fn entries(&self) -> Vec<ConfigEntry> {
        Vec::new()
    }
}

impl Style {
    /// Stores the style in the engine's configuration.
    pub fn store_in(self, options: &mut ConfigOptions) {
        options.extensions.insert(StyleExtension(self));
    }

    /// The style stored in the engine's configuration, or the default.
    pub fn from_config(options: &ConfigOptions) -> Self {
        options.extensions.get::<StyleExtension>().map_or_else(Self::default, |style| style.0)
    }
}
