//! The names that a text has, and where they stand in it.

use crate::parse;
use crate::references::{each, name_length};
use serde_json::{Map, Value};

/// A name of one or more parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// The parts, as PostgreSQL reads them.
    pub parts: Vec<String>,
    /// The byte of the text at which it begins.
    pub start: usize,
}

impl Name {
    /// The part before the last, if there are several, and the last.
    pub fn split(&self) -> Option<(Option<&str>, &str)> {
        let (last, before) = self.parts.split_last()?;
        Some((before.last().map(String::as_str), last))
    }

    /// The byte behind it. `None` if the text writes it in another way, as with `U&`.
    pub fn end(&self, text: &str) -> Option<usize> {
        let mut at = self.start;
        for (number, part) in self.parts.iter().enumerate() {
            if number > 0 {
                at = behind_dot(text, at)?;
            }
            at = behind_name(text, at, part)?;
        }
        Some(at)
    }

    /// The byte at which the name begins that is left without the first parts.
    pub fn without_first(&self, text: &str, parts: usize) -> Option<usize> {
        let first = Self { parts: self.parts.get(..parts)?.to_vec(), start: self.start };
        behind_dot(text, first.end(text)?)
    }
}

/// The name of a relation in FROM, or of the one that a statement changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relation {
    /// The name.
    pub name: Name,
    /// The alias, and the names that it gives the columns.
    pub alias: Option<(String, Vec<String>)>,
    /// Whether the statement changes it.
    pub is_target: bool,
}

impl Relation {
    /// The text in which it has other parts as its name, and an alias that names columns: the bytes to be replaced and what
    /// stands there then. `None` if the text writes it in another way. `quote` writes a name.
    pub fn rewritten(
        &self,
        text: &str,
        name: &[String],
        alias: Option<(&str, &[String])>,
        quote: impl Fn(&str) -> String,
    ) -> Option<(usize, usize, String)> {
        let list = |names: &[String], between: &str| {
            names.iter().map(|name| quote(name)).collect::<Vec<_>>().join(between)
        };
        let mut written = list(name, ".");
        if let Some((alias, columns)) = alias {
            written.push_str(&format!(" AS {}", quote(alias)));
            if !columns.is_empty() {
                written.push_str(&format!("({})", list(columns, ", ")));
            }
        }
        Some((self.name.start, self.end(text)?, written))
    }

    /// The byte behind it and its alias.
    fn end(&self, text: &str) -> Option<usize> {
        let end = self.name.end(text)?;
        let Some((alias, columns)) = &self.alias else { return Some(end) };
        let mut at = behind_space(text, end);
        let behind_as = text.get(at + 2..).unwrap_or_default();
        if text.get(at..at + 2).is_some_and(|word| word.eq_ignore_ascii_case("as"))
            && behind_as.starts_with(|c: char| c.is_ascii_whitespace() || c == '"')
        {
            at = behind_space(text, at + 2);
        }
        at = behind_name(text, at, alias)?;
        if columns.is_empty() {
            return Some(at);
        }
        let open = behind_space(text, at);
        let mut is_quoted = false;
        let list = text.get(open..)?.strip_prefix('(')?;
        let close = list.find(|c: char| {
            is_quoted ^= c == '"';
            c == ')' && !is_quoted
        })?;
        Some(open + close + 2)
    }
}

/// A call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The name of the function.
    pub name: Name,
    /// The number of arguments.
    pub arguments: usize,
}

/// What takes a constant string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Context {
    /// A function of this name, as its argument at a position from 0.
    Function(String, usize),
    /// A conversion to a type of this name.
    Type(String),
}

/// A constant string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constant {
    /// The value.
    pub value: String,
    /// The byte at which it begins.
    pub start: usize,
    /// What takes it.
    pub context: Context,
}

impl Constant {
    /// The byte behind it. `None` if it is not in plain quotes.
    pub fn end(&self, text: &str) -> Option<usize> {
        let written = format!("'{}'", self.value.replace('\'', "''"));
        text.get(self.start..)?.starts_with(&written).then(|| self.start + written.len())
    }
}

/// All names in a text.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Relations, also names of WITH.
    pub relations: Vec<Relation>,
    /// References to columns, and whether they end with `*`, which is no part.
    pub columns: Vec<(Name, bool)>,
    /// Calls.
    pub calls: Vec<Call>,
    /// Types.
    pub types: Vec<Name>,
    /// Constants that a function or a conversion takes.
    pub constants: Vec<Constant>,
    /// Names of WITH.
    pub ctes: Vec<String>,
    /// Aliases, and what is named behind FOR UPDATE OF.
    pub aliases: Vec<String>,
    /// Where the names behind FOR UPDATE OF begin.
    locked: Vec<usize>,
}

impl Names {
    /// The names in a script. `None` if it is not in the grammar.
    pub fn of(script: &str) -> Option<Self> {
        let parsed = parse(script).ok()?;
        let mut names = Self::default();
        for raw in parsed.statements() {
            each(raw.stmt.as_ref()?.node.as_ref()?, &mut |kind, node| names.note(kind, node))?;
        }
        let locked = std::mem::take(&mut names.locked);
        names.relations.retain(|relation| !locked.contains(&relation.name.start));
        Some(names)
    }

    /// Whether a reference to a column, or FOR UPDATE OF, may name a relation of FROM by this name.
    pub fn refer_to(&self, name: &str) -> bool {
        let refers = |(column, has_star): &(Name, bool)| {
            let qualifiers = match (column.parts.len(), has_star) {
                (0 | 1, _) | (_, true) => &column.parts[..],
                (several, false) => &column.parts[..several - 1],
            };
            qualifiers.iter().any(|part| part == name)
        };
        self.columns.iter().any(refers) || self.aliases.iter().any(|alias| alias == name)
    }

    /// Whether something in FROM or WITH has this name.
    pub fn have(&self, name: &str) -> bool {
        let named = |relation: &Relation| relation.name.parts.last().is_some_and(|of| of == name);
        self.relations.iter().any(named)
            || self.aliases.iter().chain(&self.ctes).any(|other| other == name)
    }

    fn note(&mut self, kind: &str, node: &Map<String, Value>) {
        match kind {
            "RangeVar" | "relation" => {
                self.relations.extend(relation(node, kind == "relation"));
            }
            "CommonTableExpr" => self.ctes.extend(text(node, "ctename")),
            "alias" => self.aliases.extend(text(node, "aliasname")),
            "LockingClause" => {
                for item in node.get("locked_rels").and_then(Value::as_array).into_iter().flatten()
                {
                    let range = item.pointer("/node/RangeVar").and_then(Value::as_object);
                    let range = range.and_then(|range| relation(range, false));
                    if let Some(relation) = range {
                        self.locked.push(relation.name.start);
                        self.aliases.extend(relation.name.parts.last().cloned());
                    }
                }
            }
            "ColumnRef" => {
                let fields = node.get("fields").and_then(Value::as_array);
                let has_star = fields.and_then(|all| all.last()?.pointer("/node/AStar")).is_some();
                self.columns.extend(name(node, "fields").map(|name| (name, has_star)));
            }
            "FuncCall" => self.note_call(node),
            "TypeCast" => {
                let of = node.get("type_name").and_then(Value::as_object);
                let of = of.filter(|of| {
                    of.get("array_bounds").and_then(Value::as_array).is_none_or(Vec::is_empty)
                });
                let of = of.and_then(|of| name(of, "names")?.parts.pop());
                if let (Some(of), Some(argument)) = (of, node.get("arg")) {
                    self.constants.extend(constant(argument, Context::Type(of)));
                }
            }
            "type_name" | "TypeName" => self.types.extend(name(node, "names")),
            _ => {}
        }
    }

    fn note_call(&mut self, node: &Map<String, Value>) {
        let Some(name) = name(node, "funcname") else { return };
        let arguments = node.get("args").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for (position, argument) in arguments.iter().enumerate() {
            let function = name.parts.last().cloned().unwrap_or_default();
            self.constants.extend(constant(argument, Context::Function(function, position)));
        }
        self.calls.push(Call { name, arguments: arguments.len() });
    }
}

/// A relation of FROM. `None` for a node that is none.
fn relation(node: &Map<String, Value>, is_target: bool) -> Option<Relation> {
    let last = text(node, "relname")?;
    let before = ["catalogname", "schemaname"].into_iter().filter_map(|key| text(node, key));
    let parts = before.chain([last]).collect();
    let alias = node.get("alias").and_then(Value::as_object);
    let alias = alias.and_then(|alias| {
        let columns = strings(alias.get("colnames"));
        Some((text(alias, "aliasname")?, columns))
    });
    Some(Relation { name: Name { parts, start: location(node)? }, alias, is_target })
}

/// A name in a field of a node, which says where it begins.
fn name(node: &Map<String, Value>, key: &str) -> Option<Name> {
    let parts = strings(node.get(key));
    (!parts.is_empty()).then_some(Name { parts, start: location(node)? })
}

/// A constant string. `None` for another expression.
fn constant(node: &Value, context: Context) -> Option<Constant> {
    let constant = node.pointer("/node/AConst")?.as_object()?;
    let value = constant.get("val")?.pointer("/Sval/sval")?.as_str()?.to_owned();
    Some(Constant { value, start: location(constant)?, context })
}

fn location(node: &Map<String, Value>) -> Option<usize> {
    // A location of zero is not written.
    let location = node.get("location").and_then(Value::as_i64).unwrap_or(0);
    usize::try_from(location).ok()
}

fn text(node: &Map<String, Value>, key: &str) -> Option<String> {
    let text = node.get(key).and_then(Value::as_str);
    text.filter(|text| !text.is_empty()).map(str::to_owned)
}

fn strings(list: Option<&Value>) -> Vec<String> {
    let items = list.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(|item| Some(item.pointer("/node/String/sval")?.as_str()?.to_owned())).collect()
}

fn behind_space(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.len() - rest.trim_start().len()
}

fn behind_dot(text: &str, at: usize) -> Option<usize> {
    let dot = behind_space(text, at);
    text.get(dot..)?.starts_with('.').then(|| behind_space(text, dot + 1))
}

/// The byte behind a part of a name that stands at a byte.
fn behind_name(text: &str, at: usize, name: &str) -> Option<usize> {
    let end = at + name_length(text.get(at..)?);
    let written = text.get(at..end)?;
    let is_it = match written.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')) {
        Some(inner) => inner.replace("\"\"", "\"") == name,
        None => written.to_ascii_lowercase() == name,
    };
    is_it.then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(name: &Name) -> String {
        name.parts.join("|")
    }

    #[test]
    fn names_have_their_places() {
        let text = "SELECT x.a, S . \"T\".b, f(nextval('s.q'), 'r'::regclass), c::mood[] \
                    FROM s.\"T\" AS x ( a, \"b)\" ), u FOR UPDATE OF u";
        let names = Names::of(text).expect("parses");
        let relations: Vec<&str> = names
            .relations
            .iter()
            .map(|relation| {
                let (start, end, _) =
                    relation.rewritten(text, &[], None, str::to_owned).expect("written plainly");
                &text[start..end]
            })
            .collect();
        assert_eq!(relations, ["s.\"T\" AS x ( a, \"b)\" )", "u"]);
        let ends = |name: &Name| name.end(text).map(|end| &text[name.start..end]);
        assert_eq!(ends(&names.columns[1].0), Some("S . \"T\".b"));
        let rest = names.columns[1].0.without_first(text, 1).expect("a qualifier");
        assert!(text[rest..].starts_with("\"T\".b"));
        assert_eq!(names.types.iter().map(parts).collect::<Vec<_>>(), ["regclass", "mood"]);
        let values = names.constants.iter().map(|constant| &*constant.value);
        assert_eq!(values.collect::<Vec<_>>(), ["s.q", "r"]);
        assert!(names.constants.iter().all(|constant| constant.end(text).is_some()));
        assert_eq!(names.calls.len(), 2);
        assert!(names.refer_to("x") && names.refer_to("u") && !names.refer_to("a"));
        assert!(names.have("T") && names.have("x") && !names.have("mood"));
    }

    #[test]
    fn relations_are_rewritten() {
        let text = "SELECT 1 FROM t, t AS x(a), t y";
        let names = Names::of(text).expect("parses");
        let columns = ["A".to_owned()];
        let written = |at: usize, alias: Option<(&str, &[String])>| {
            let quote = |name: &str| format!("[{name}]");
            let name = ["s".to_owned(), "u".to_owned()];
            let (start, end, new) = names.relations[at].rewritten(text, &name, alias, quote)?;
            Some(format!("{}{new}{}", &text[..start], &text[end..]))
        };
        assert_eq!(written(0, None).as_deref(), Some("SELECT 1 FROM [s].[u], t AS x(a), t y"));
        assert_eq!(
            written(1, Some(("x", &columns[..]))).as_deref(),
            Some("SELECT 1 FROM t, [s].[u] AS [x]([A]), t y")
        );
        assert_eq!(
            written(2, Some(("y", &columns[..0]))).as_deref(),
            Some("SELECT 1 FROM t, t AS x(a), [s].[u] AS [y]")
        );
    }

    #[test]
    fn statements_name_what_they_change() {
        let names = Names::of("INSERT INTO t SELECT 1 FROM t; DELETE FROM u").expect("parses");
        let targets = names.relations.iter().filter(|relation| relation.is_target);
        assert_eq!(targets.map(|of| parts(&of.name)).collect::<Vec<_>>(), ["t", "u"]);
        assert!(Names::of("SELECT FROM FROM").is_none());
    }
}
