//! EXPLAIN, as text with one line a row, or as JSON.
//!
//! A query is shown by its physical plan, with VERBOSE also by its logical plan. INSERT, UPDATE and DELETE are shown by the
//! query that finds their rows; a pushed-down one by the query that each owner runs. ANALYZE executes the statement,
//! PREDICT simulates it on other hardware, and both together count the rows of its operators first.

use super::run::Write;
use super::settings::text_rows;
use super::write_source::source_of_write;
use crate::Statement;
use crate::analysis;
use crate::context::outcome::Outcome;
use crate::context::transactions::Conversation;
use crate::context::{Frame, Inner};
use crate::dml::at_owners;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::display::DisplayableExecutionPlan;
use datafusion::physical_plan::metrics::Metric;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::sql::sqlparser::ast::{Expr, Statement as Ast, UtilityOption, Value};
use distributed::bundles::{Bundling, Shown};
use distributed::metrics::Measuring;
use executor::Control;
use futures::TryStreamExt;
use grammar::tree::NodeEnum;
use planner::unique_names;
use serde_json::{Map, Value as Json, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::catalog::SqlType;
use values::error::{Error, Result, SqlState};
use values::field::Field;

/// The one column of an answer.
const COLUMN: &str = "QUERY PLAN";

/// The options of EXPLAIN.
#[derive(Debug, Default)]
struct Options {
    analyze: bool,
    verbose: bool,
    json: bool,
    /// Whether to show times; `None` if SUMMARY is not given.
    summary: Option<bool>,
    /// The hardware to simulate, with PREDICT.
    predict: Option<predict::Request>,
}

/// An explained statement.
struct Explained {
    /// The effect of a write, with its table.
    deed: Option<String>,
    /// The logical plan, with VERBOSE.
    logical: Option<LogicalPlan>,
    physical: Option<Arc<dyn ExecutionPlan>>,
    /// How the plan was cut into bundles; `None` if it was not.
    bundling: Option<Bundling>,
    planning: Duration,
    /// Duration of the execution, and the rows that it returned or changed.
    run: Option<(Duration, u64)>,
}

impl Inner {
    pub(crate) async fn explain(
        &self,
        conversation: &mut Conversation,
        frame: &Frame<'_>,
        whole: &Statement,
        control: &Control,
    ) -> Result<Outcome> {
        let Some(ast @ Ast::Explain { statement, analyze, verbose, options, .. }) = whole.ast()
        else {
            return Err(Error::unsupported("only EXPLAIN explains"));
        };
        let options = Options::of(*analyze, *verbose, options.as_deref().unwrap_or_default())?;
        if let Some(request) = &options.predict {
            let tables = self.reading(conversation).await?;
            self.context.see(&tables, frame);
            let planner = frame.planner(&tables);
            let query = explained_query(whole)?;
            let (plan, _) = analysis::plan(frame, &planner, query).await?;
            let lines = predict::lines(planner, &tables, &plan, request).await?;
            return text_rows("EXPLAIN", &[(COLUMN, lines)]);
        }
        let began = Instant::now();
        let mut explained = self.planned(conversation, frame, whole, statement).await?;
        explained.planning = began.elapsed();
        explained.logical = match explained.logical.take().filter(|_| options.verbose) {
            Some(plan) => Some(frame.engine().optimize(&plan)?),
            None => None,
        };
        if options.analyze {
            let began = Instant::now();
            let rows = match (&explained.deed, &explained.physical) {
                (None, Some(physical)) => {
                    let mut engine = frame.engine().clone();
                    engine.config_mut().set_extension(Arc::new(Measuring));
                    let stream = execute_stream(Arc::clone(physical), engine.task_ctx())?;
                    let count = |sum, batch: datafusion::arrow::array::RecordBatch| async move {
                        Ok(sum + batch.num_rows() as u64)
                    };
                    stream.try_fold(0, count).await?
                }
                _ => {
                    written(self.write(conversation, frame, Write::Sql(statement), control).await?)
                        .await?
                }
            };
            explained.run = Some((began.elapsed(), rows));
        }
        let lines = if options.json { explained.json(&options) } else { explained.lines(&options) };
        let outcome = text_rows("EXPLAIN", &[(COLUMN, lines)])?;
        Ok(match outcome {
            Outcome::Rows(rows) if options.json => {
                Outcome::Rows(crate::Rows { fields: fields(ast), ..rows })
            }
            outcome => outcome,
        })
    }

    pub(super) async fn plan_to_predict(&self, sql: &str) -> Result<dbsim::Plan> {
        let statement = parser::one(sql)?;
        let query = explained_query(&statement)?;
        let mut conversation = self.conversation.lock().await;
        let frame = self.frame_of(&[], &statement);
        let tables = self.reading(&mut conversation).await?;
        self.context.see(&tables, &frame);
        let planner = frame.planner(&tables);
        let (plan, _) = analysis::plan(&frame, &planner, query).await?;
        Ok(predict::plan_of(planner, &tables, &plan, 1.0, true).await?.0)
    }

    async fn planned(
        &self,
        conversation: &mut Conversation,
        frame: &Frame<'_>,
        whole: &Statement,
        statement: &Ast,
    ) -> Result<Explained> {
        let tables = self.reading(conversation).await?;
        self.context.see(&tables, frame);
        let (deed, query) = match statement {
            Ast::Query(_) => (None, Some(statement.clone())),
            _ => {
                let (deed, query) = source_of_write(statement)?;
                (Some(deed), query)
            }
        };
        let query_there = match tables.peers() {
            Some(_) => at_owners::query(frame, &tables, statement).await?,
            None => None,
        };
        let deed = match query_there {
            Some(_) => deed.map(|deed| format!("{deed}, by the owners of its rows")),
            None => deed,
        };
        let (mut logical, mut physical) = (None, None);
        if let Some(query) = query {
            let mut planner = frame.planner(&tables);
            let plan = match deed {
                None => analysis::plan(frame, &planner, analysis::query_of(whole)?).await?.0,
                Some(_) => planner.plan_statement(query).await?,
            };
            physical = match query_there {
                Some(query) => Some(query),
                None => Some(planner.physical(&plan).await?),
            };
            logical = Some(plan);
        }
        let bundling = Bundling::of(|name| frame.settings.get(name));
        Ok(Explained { deed, logical, physical, bundling, planning: Duration::ZERO, run: None })
    }
}

/// The query whose run time is predicted.
fn explained_query(statement: &Statement) -> Result<&NodeEnum> {
    let refused = || Error::unsupported("EXPLAIN (PREDICT) is for queries");
    statement.query().ok_or_else(refused)
}

/// The columns of the result.
pub(super) fn fields(ast: &Ast) -> Vec<Field> {
    let is_json = match ast {
        Ast::Explain { options, .. } => {
            Options::of(false, false, options.as_deref().unwrap_or_default())
                .is_ok_and(|options| options.json)
        }
        _ => false,
    };
    vec![Field::new(COLUMN, if is_json { SqlType::Json } else { SqlType::Text })]
}

/// Number of rows that a write has changed.
async fn written(outcome: Outcome) -> Result<u64> {
    match outcome {
        Outcome::Done(tag) => Ok(tag.rows.unwrap_or(0)),
        Outcome::Rows(rows) => {
            let batches: Vec<_> = rows.stream.try_collect().await?;
            Ok(batches.iter().map(|batch| batch.num_rows() as u64).sum())
        }
    }
}

impl Options {
    fn of(analyze: bool, verbose: bool, given: &[UtilityOption]) -> Result<Self> {
        let mut options = Self { analyze, verbose, ..Self::default() };
        let (mut timing, mut predict) = (false, predict::Options::default());
        for option in given {
            let name = option.name.value.to_lowercase();
            let word = option.arg.as_ref().map(word_of);
            let flag = || flag_of(&name, word.as_deref());
            match name.as_str() {
                "analyze" => options.analyze = flag()?,
                "verbose" => options.verbose = flag()?,
                "summary" => options.summary = Some(flag()?),
                "timing" => timing = flag()?,
                // There are no pages, log or cost estimates, and no settings that change a plan.
                "costs" | "buffers" | "wal" | "settings" => drop(flag()?),
                "format" => options.json = is_json(word.as_deref().unwrap_or_default())?,
                other if predict.take(other, word.as_deref())? => {}
                _ => {
                    let message = format!("unrecognized EXPLAIN option \"{name}\"");
                    return Err(Error::new(SqlState::SyntaxError, message));
                }
            }
        }
        if timing && !options.analyze {
            let message = "EXPLAIN option TIMING requires ANALYZE";
            return Err(Error::new(SqlState::InvalidParameterValue, message));
        }
        options.predict = predict.request(options.analyze)?;
        if options.predict.is_some() && options.json {
            return Err(Error::unsupported("EXPLAIN (PREDICT, FORMAT JSON) is not supported"));
        }
        Ok(options)
    }

    fn tells_times(&self) -> bool {
        self.summary.unwrap_or(self.analyze)
    }
}

fn word_of(argument: &Expr) -> String {
    match argument {
        Expr::Identifier(ident) => ident.value.to_lowercase(),
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => text.to_lowercase(),
            other => other.to_string().to_lowercase(),
        },
        other => other.to_string().to_lowercase(),
    }
}

fn flag_of(name: &str, word: Option<&str>) -> Result<bool> {
    match word {
        None | Some("true" | "on" | "1") => Ok(true),
        Some("false" | "off" | "0") => Ok(false),
        Some(_) => {
            let message = format!("{name} requires a Boolean value");
            Err(Error::new(SqlState::SyntaxError, message))
        }
    }
}

fn is_json(word: &str) -> Result<bool> {
    match word {
        "text" => Ok(false),
        "json" => Ok(true),
        "xml" | "yaml" => Err(Error::unsupported(format!(
            "EXPLAIN (FORMAT {}) is not supported",
            word.to_uppercase()
        ))
        .with_hint("FORMAT TEXT and FORMAT JSON are.")),
        other => {
            let message = format!("unrecognized value for EXPLAIN option \"format\": \"{other}\"");
            Err(Error::new(SqlState::InvalidParameterValue, message))
        }
    }
}

impl Explained {
    fn lines(&self, options: &Options) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(deed) = &self.deed {
            lines.push(match self.run {
                Some((_, rows)) => format!("{deed} (actual rows={rows})"),
                None => deed.clone(),
            });
        }
        let margin = if self.deed.is_some() { "  " } else { "" };
        let mut add = |text: String| {
            let text = unique_names::all_shown(&text);
            lines.extend(text.lines().map(|line| format!("{margin}{}", line.trim_end())));
        };
        if let Some(logical) = &self.logical {
            add(logical.display_indent().to_string());
        }
        add(self.fragments().join("\n"));
        if let Some(physical) = &self.physical {
            let shown = if self.is_counted() {
                DisplayableExecutionPlan::with_metrics(physical.as_ref())
            } else {
                DisplayableExecutionPlan::new(physical.as_ref())
            };
            add(shown.indent(options.verbose).to_string());
        }
        if options.tells_times() {
            lines.push(format!("Planning Time: {:.3} ms", milliseconds(self.planning)));
            let run = self.run.map(|(time, _)| time);
            lines.extend(run.map(|time| format!("Execution Time: {:.3} ms", milliseconds(time))));
        }
        lines
    }

    /// Whether the rows of the plan were counted. The query of a write is planned again when the write is executed.
    fn is_counted(&self) -> bool {
        self.run.is_some() && self.deed.is_none()
    }

    /// The bundles of the plan, if it was cut.
    fn fragments(&self) -> Vec<String> {
        let cut = self.physical.as_ref().zip(self.bundling);
        cut.map_or_else(Vec::new, |(plan, by)| Shown::of(plan, by).lines(self.is_counted()))
    }

    fn json(&self, options: &Options) -> Vec<String> {
        let is_counted = self.is_counted();
        let plan = self.physical.as_deref().map(|physical| node(physical, is_counted));
        let mut plan = plan.unwrap_or_else(|| json!({}));
        if let Some(deed) = &self.deed {
            let inner = self.physical.iter().map(|_| plan.clone()).collect::<Vec<_>>();
            plan = json!({ "Node Type": "ModifyTable", "Details": deed, "Plans": inner });
        }
        if let (Some((_, rows)), Some(plan)) = (self.run, plan.as_object_mut()) {
            plan.insert("Actual Rows".to_owned(), rows.into());
        }
        let mut whole = Map::from_iter([("Plan".to_owned(), plan)]);
        let fragments = self.fragments();
        if !fragments.is_empty() {
            whole.insert("Fragments".to_owned(), fragments.into());
        }
        if options.tells_times() {
            whole.insert("Planning Time".to_owned(), milliseconds(self.planning).into());
            if let Some((time, _)) = self.run {
                whole.insert("Execution Time".to_owned(), milliseconds(time).into());
            }
        }
        let whole = Json::Array(vec![Json::Object(whole)]);
        vec![serde_json::to_string_pretty(&whole).unwrap_or_default()]
    }
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

/// An operator and its inputs.
fn node(plan: &dyn ExecutionPlan, is_counted: bool) -> Json {
    let details = DisplayableExecutionPlan::new(plan).one_line().to_string();
    let below = plan.children().into_iter().map(|child| node(child.as_ref(), is_counted));
    let below: Vec<Json> = below.collect();
    let mut node = Map::new();
    node.insert("Node Type".to_owned(), plan.name().into());
    node.insert("Details".to_owned(), unique_names::all_shown(details.trim_end()).into());
    if let Some(metrics) = plan.metrics().filter(|_| is_counted) {
        let metrics = metrics.aggregate_by_name();
        if let Some(rows) = metrics.output_rows() {
            node.insert("Actual Rows".to_owned(), rows.into());
        }
        let figure = |metric: &Arc<Metric>| {
            let value = metric.value();
            (value.name().to_owned(), Json::from(value.as_usize()))
        };
        let told = metrics.iter().filter(|metric| !metric.value().is_timestamp());
        let figures: Map<String, Json> = told.map(figure).collect();
        node.insert("Metrics".to_owned(), Json::Object(figures));
    }
    if !below.is_empty() {
        node.insert("Plans".to_owned(), Json::Array(below));
    }
    Json::Object(node)
}
