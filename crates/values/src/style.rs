//! How a session reads and writes values: its settings `bytea_output`, `datestyle`, `extra_float_digits`,
//! `intervalstyle` and `timezone`.

use crate::zone::Zone;

pub use datetimes::DateOrder;

use datafusion::common::config::{ConfigEntry, ConfigExtension, ConfigOptions, ExtensionOptions};
use datafusion::common::plan_err;
use serde::{Deserialize, Serialize};
use std::any::Any;

/// The formats of types that have several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Style {
    /// `bytea_output`
    pub bytes: BytesStyle,
    /// `intervalstyle`
    pub interval: IntervalStyle,
    /// The order of `datestyle`
    pub date: DateOrder,
    /// The output format of `datestyle`
    pub date_format: DateFormat,
    /// `extra_float_digits`
    pub float: FloatDigits,
    /// `timezone`
    pub zone: Zone,
}

/// The output format of dates and timestamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum DateFormat {
    /// `1997-12-17 07:37:16-08`
    #[default]
    Iso,
    /// `12/17/1997 07:37:16 PST`
    Sql,
    /// `Wed Dec 17 07:37:16 1997 PST`
    Postgres,
    /// `17.12.1997 07:37:16 PST`
    German,
}

impl DateFormat {
    /// The format of a `datestyle` in its canonical form, such as `ISO, DMY`.
    pub fn of_setting(datestyle: &str) -> Self {
        match datestyle.split(',').next() {
            Some("SQL") => Self::Sql,
            Some("Postgres") => Self::Postgres,
            Some("German") => Self::German,
            _ => Self::Iso,
        }
    }
}

/// The digits of floating-point numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum FloatDigits {
    /// The fewest that read back as the same number.
    #[default]
    Shortest,
    /// At most as many as every number keeps, and as many more; fewer, since this is not positive.
    Extra(i8),
}

impl FloatDigits {
    /// The digits for the value of `extra_float_digits`.
    pub fn of_setting(extra: &str) -> Self {
        match extra.parse::<i8>() {
            Ok(extra) if extra <= 0 => Self::Extra(extra),
            _ => Self::Shortest,
        }
    }
}

/// The output format of `bytea`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum BytesStyle {
    /// `\x00ff`
    #[default]
    Hex,
    /// `\000\377`; printable ASCII characters are not escaped.
    Escape,
}

/// The output format of `interval`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
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

impl BytesStyle {
    /// The format for the value of `bytea_output`. An unknown value selects the default.
    pub fn of_setting(bytea_output: &str) -> Self {
        match bytea_output {
            "escape" => Self::Escape,
            _ => Self::Hex,
        }
    }
}

impl IntervalStyle {
    /// The format for the value of `intervalstyle`. An unknown value selects the default.
    pub fn of_setting(intervalstyle: &str) -> Self {
        match intervalstyle {
            "postgres_verbose" => Self::Verbose,
            "sql_standard" => Self::Standard,
            "iso_8601" => Self::Iso,
            _ => Self::Postgres,
        }
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
