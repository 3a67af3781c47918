//! EXPLAIN, as text with one line a row, or as JSON.
//!
//! A query is shown by its physical plan, with VERBOSE also by its logical plan. INSERT, UPDATE, DELETE and MERGE are shown by
//! the query that finds their rows; a pushed-down one by the query that each owner runs. ANALYZE executes the statement,
//! PREDICT simulates it on other hardware, and both together count the rows of its operators first.

use super::run::Write;
use super::settings::text_rows;
use crate::Statement;
use crate::analysis;
use crate::context::outcome::Outcome;
use crate::context::transactions::Conversation;
use crate::context::{Frame, Inner};
use crate::dml::explained;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::display::DisplayableExecutionPlan;
use datafusion::physical_plan::metrics::Metric;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use distributed::bundles::{Bundling, Shown};
use distributed::metrics::Measuring;
use executor::Control;
use futures::TryStreamExt;
use grammar::tree::NodeEnum;
use parser::commands::{Explain, Given};
use parser::{Body, errors};
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
    /// The changes in WITH, with their names. Their plans are not counted.
    changes: Vec<(String, explained::Part)>,
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
        (statement, explain): (&Statement, &Explain),
        control: &Control,
    ) -> Result<Outcome> {
        let options = Options::of(&explain.options, frame.text)?;
        if let Some(request) = &options.predict {
            let tables = self.reading(conversation).await?;
            self.context.see(&tables, frame);
            let planner = frame.planner(&tables);
            let query = explained_query(statement)?;
            let (plan, _) = analysis::plan(frame, &planner, query).await?;
            let lines = predict::lines(planner, &tables, &plan, request).await?;
            return text_rows("EXPLAIN", &[(COLUMN, lines)]);
        }
        let began = Instant::now();
        let mut explained = self.planned(conversation, frame, statement).await?;
        explained.planning = began.elapsed();
        explained.logical = match explained.logical.take().filter(|_| options.verbose) {
            Some(plan) => Some(frame.engine().optimize(&plan)?),
            None => None,
        };
        if options.analyze {
            let began = Instant::now();
            let rows = match &explained.physical {
                Some(physical) if !explained.writes() => {
                    let mut engine = frame.engine().clone();
                    engine.config_mut().set_extension(Arc::new(Measuring));
                    let stream = execute_stream(Arc::clone(physical), engine.task_ctx())?;
                    let count = |sum, batch: datafusion::arrow::array::RecordBatch| async move {
                        Ok(sum + batch.num_rows() as u64)
                    };
                    stream.try_fold(0, count).await?
                }
                _ => {
                    let done = self.write(conversation, frame, Write::Change, control).await?;
                    written(done).await?
                }
            };
            explained.run = Some((began.elapsed(), rows));
        }
        let lines = if options.json { explained.json(&options) } else { explained.lines(&options) };
        let outcome = text_rows("EXPLAIN", &[(COLUMN, lines)])?;
        Ok(match outcome {
            Outcome::Rows(rows) if options.json => {
                Outcome::Rows(crate::Rows { fields: fields(explain).into(), ..rows })
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
        statement: &Statement,
    ) -> Result<Explained> {
        let tables = self.reading(conversation).await?;
        self.context.see(&tables, frame);
        let bundling = Bundling::of(|name| frame.settings.get(name));
        let planning = Duration::ZERO;
        if matches!(statement.body(), Body::Change) {
            let (main, changes) = explained::parts(frame, &tables).await?;
            let explained::Part { deed, logical, physical } = main;
            let logical = Some(logical);
            return Ok(Explained {
                deed,
                changes,
                logical,
                physical,
                bundling,
                planning,
                run: None,
            });
        }
        let planner = frame.planner(&tables);
        let query = analysis::query_of(statement)?;
        let (logical, _) = analysis::plan(frame, &planner, query).await?;
        let physical = Some(planner.physical(&logical).await?);
        let (deed, changes, logical) = (None, Vec::new(), Some(logical));
        Ok(Explained { deed, changes, logical, physical, bundling, planning, run: None })
    }
}

/// The query whose run time is predicted.
fn explained_query(statement: &Statement) -> Result<&NodeEnum> {
    let refused = || Error::unsupported("EXPLAIN (PREDICT) is for queries");
    statement.query().ok_or_else(refused)
}

/// The columns of the result.
pub(super) fn fields(explain: &Explain) -> Vec<Field> {
    let is_json = Options::of(&explain.options, "").is_ok_and(|options| options.json);
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
    fn of(given: &[Given], text: &str) -> Result<Self> {
        let mut options = Self::default();
        let (mut timing, mut predict) = (false, predict::Options::default());
        for option in given {
            let name = option.name.to_lowercase();
            let word = option.words.first().map(|word| word.to_lowercase());
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
                    let error = Error::new(SqlState::SyntaxError, message);
                    return Err(errors::at(error, option.location, text));
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
    /// Whether the statement changes rows.
    fn writes(&self) -> bool {
        self.deed.is_some() || !self.changes.is_empty()
    }

    fn lines(&self, options: &Options) -> Vec<String> {
        let mut lines = Vec::new();
        for (name, part) in &self.changes {
            lines.push(format!("CTE {name}"));
            lines.extend(part.deed.iter().map(|deed| format!("  {deed}")));
            if let Some(physical) = &part.physical {
                let shown = DisplayableExecutionPlan::new(physical.as_ref());
                let shown = unique_names::all_shown(&shown.indent(options.verbose).to_string());
                lines.extend(shown.lines().map(|line| format!("    {}", line.trim_end())));
            }
        }
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
        self.run.is_some() && !self.writes()
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
        let changes = self.changes.iter().map(|(name, part)| {
            let below = part.physical.iter().map(|physical| node(physical.as_ref(), false));
            let below: Vec<Json> = below.collect();
            json!({
                "Node Type": "ModifyTable",
                "Subplan Name": format!("CTE {name}"),
                "Details": part.deed,
                "Plans": below,
            })
        });
        if let (Some(plan), false) = (plan.as_object_mut(), self.changes.is_empty()) {
            let plans = plan.entry("Plans").or_insert_with(|| Json::Array(Vec::new()));
            plans.as_array_mut().into_iter().for_each(|plans| plans.extend(changes.clone()));
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
