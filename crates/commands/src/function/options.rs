//! The options of functions: volatility, STRICT, COST and the like.

use crate::options::{elements, is_on, refuse_repeated, text};
use crate::setting::{SettingStatement, SettingValue};
use crate::{Error, Result};
use grammar::tree::{DefElem, Node, NodeEnum};

/// VOLATILE, STABLE or IMMUTABLE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stability {
    /// IMMUTABLE.
    Immutable,
    /// STABLE.
    Stable,
    /// VOLATILE.
    Volatile,
}

/// PARALLEL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParallelSafety {
    /// UNSAFE.
    Unsafe,
    /// RESTRICTED.
    Restricted,
    /// SAFE.
    Safe,
}

/// The options of a function, each if it is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FunctionOptions {
    /// LANGUAGE.
    pub language: Option<String>,
    /// AS: the source.
    pub source: Option<String>,
    /// AS: the name of the function in the source.
    pub symbol: Option<String>,
    /// The volatility.
    pub volatility: Option<Stability>,
    /// STRICT, or CALLED ON NULL INPUT.
    pub strict: Option<bool>,
    /// LEAKPROOF.
    pub leakproof: Option<bool>,
    /// PARALLEL.
    pub parallel: Option<ParallelSafety>,
    /// COST.
    pub cost: Option<String>,
    /// ROWS, and where it stands.
    pub rows: Option<(String, i32)>,
    /// SECURITY DEFINER, or INVOKER.
    pub definer: Option<bool>,
    /// SET and RESET.
    pub settings: Vec<FunctionSetting>,
}

/// SET or RESET of a function. Names are in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FunctionSetting {
    /// SET: the name, and the values.
    Set(String, Vec<String>),
    /// RESET, or SET ... TO DEFAULT.
    Reset(String),
    /// RESET ALL.
    ResetAll,
}

/// The options that procedures do not have.
const OF_FUNCTIONS: [&str; 8] =
    ["volatility", "strict", "leakproof", "parallel", "cost", "rows", "support", "window"];

impl FunctionOptions {
    /// The options of a function, or of a procedure, which has fewer.
    pub(super) fn of(nodes: &[Node], is_procedure: bool) -> Result<Self> {
        let is_setting = |node: &Node| matches!(&node.node, Some(NodeEnum::DefElem(element)) if element.defname == "set");
        let others: Vec<Node> = nodes.iter().filter(|node| !is_setting(node)).cloned().collect();
        refuse_repeated(&others)?;
        let of_functions = elements(nodes)
            .find(|element| is_procedure && OF_FUNCTIONS.contains(&element.defname.as_str()));
        if let Some(element) = of_functions {
            let message = "invalid attribute in procedure definition";
            return Err(Error::new("42P13", message).at(element.location));
        }
        let mut options = Self::default();
        elements(nodes).try_for_each(|element| options.set(element))?;
        Ok(options)
    }

    fn set(&mut self, element: &DefElem) -> Result<()> {
        let location = element.location;
        let missing = |what: &str| Err(Error::missing(what).at(location));
        let word = element.arg.as_deref().and_then(text).unwrap_or_default();
        match element.defname.as_str() {
            "as" => {
                let (source, symbol) = source(element)?;
                (self.source, self.symbol) = (Some(source), symbol);
            }
            "language" => self.language = Some(word),
            "volatility" => {
                self.volatility = Some(match word.as_str() {
                    "immutable" => Stability::Immutable,
                    "stable" => Stability::Stable,
                    _ => Stability::Volatile,
                });
            }
            "strict" => self.strict = Some(is_on(element)),
            "leakproof" => self.leakproof = Some(is_on(element)),
            "security" => self.definer = Some(is_on(element)),
            "parallel" => {
                self.parallel = Some(match word.as_str() {
                    "safe" => ParallelSafety::Safe,
                    "restricted" => ParallelSafety::Restricted,
                    "unsafe" => ParallelSafety::Unsafe,
                    _ => {
                        let message = "parameter \"parallel\" must be SAFE, RESTRICTED, or UNSAFE";
                        return Err(Error::new("42601", message).at(location));
                    }
                });
            }
            "cost" => self.cost = Some(positive(&word, "COST")?),
            "rows" => self.rows = Some((positive(&word, "ROWS")?, location)),
            "set" => self.settings.push(setting(element)?),
            "window" => return missing("a window function of a user"),
            "support" => return missing("SUPPORT of a function"),
            "transform" => return missing("TRANSFORM of a function"),
            _ => return missing("this option of a function"),
        }
        Ok(())
    }
}

/// SET name TO values, or RESET.
fn setting(element: &DefElem) -> Result<FunctionSetting> {
    let missing = |what: &str| Err(Error::missing(what).at(element.location));
    let Some(NodeEnum::VariableSetStmt(set)) =
        element.arg.as_deref().and_then(|node| node.node.as_ref())
    else {
        return missing("this SET of a function");
    };
    match SettingStatement::of(set)? {
        SettingStatement::Set { name, value: SettingValue::Values(values), .. } => {
            Ok(FunctionSetting::Set(name, values))
        }
        SettingStatement::Set { name, value: SettingValue::Default, .. }
        | SettingStatement::Reset(name) => Ok(FunctionSetting::Reset(name)),
        SettingStatement::ResetAll => Ok(FunctionSetting::ResetAll),
        SettingStatement::Set { value: SettingValue::Current, .. } => {
            missing("SET ... FROM CURRENT of a function")
        }
        _ => missing("this SET of a function"),
    }
}

fn source(element: &DefElem) -> Result<(String, Option<String>)> {
    let texts = match element.arg.as_deref().and_then(|node| node.node.as_ref()) {
        Some(NodeEnum::List(list)) => crate::names::texts(&list.items),
        _ => Vec::new(),
    };
    let mut texts = texts.into_iter();
    match (texts.next(), texts.next(), texts.next()) {
        (Some(source), symbol, None) => Ok((source, symbol)),
        _ => Err(Error::new("42P13", "AS has one string or two")),
    }
}

fn positive(number: &str, name: &str) -> Result<String> {
    match number.parse::<f64>() {
        Ok(value) if value > 0.0 => Ok(number.to_owned()),
        _ => Err(Error::new("22023", format!("{name} must be positive"))),
    }
}
