//! The bundles of a plan for EXPLAIN: in the order of execution, with their operators and the
//! servers that run them.

use super::Bundling;
use super::in_step::InStep;
use crate::boundary::{Amounts, Stored};
use crate::exchange::carries_rows;
use crate::kinds::{Role, is_cut, role_of, scan_of};
use crate::remote::servers_of;
use bundling::{Kind, Scheme};
use datafusion::physical_plan::ExecutionPlan;
use scan::bucket_scan::BucketScan;
use std::sync::Arc;

/// Names of servers, the coordinator first; `None` for the coordinator alone.
type Servers = Option<Arc<[String]>>;

/// The bundles of a plan.
pub struct Shown {
    scheme: Scheme,
    bundles: Vec<Bundle>,
}

/// One bundle.
struct Bundle {
    /// `None` for the last bundle, whose rows are not stored.
    number: Option<usize>,
    /// From the top down.
    operators: Vec<(String, Servers)>,
    /// The amount that is stored.
    stored: Option<Amounts>,
}

impl Shown {
    /// The bundles of a plan made with this configuration.
    pub fn of(plan: &Arc<dyn ExecutionPlan>, bundling: Bundling) -> Self {
        let last = Bundle { number: None, operators: Vec::new(), stored: None };
        let mut shown = Self { scheme: bundling.scheme, bundles: vec![last] };
        let whole = plan.downcast_ref::<InStep>().map_or(plan, InStep::bundle);
        shown.add(whole, 0, None);
        shown.bundles.sort_by_key(|bundle| bundle.number.unwrap_or(usize::MAX));
        shown
    }

    /// Adds the operators of a plan to a bundle, and the bundles below it.
    fn add(&mut self, plan: &Arc<dyn ExecutionPlan>, to: usize, servers: Servers) {
        let its_own = servers_of(plan);
        if let Some(stored) = plan.downcast_ref::<Stored>() {
            let (number, amounts) = (Some(stored.number()), Some(stored.amounts()));
            self.bundles.push(Bundle { number, operators: Vec::new(), stored: amounts });
            return self.add(stored.bundle(), self.bundles.len() - 1, its_own.or(servers));
        }
        // The others run the same operators.
        if let (true, [here, ..]) = (its_own.is_some() || carries_rows(plan), &plan.children()[..])
        {
            return self.add(here, to, its_own);
        }
        if let Role::Operator(kinds) = role_of(plan) {
            self.bundles[to].operators.push((name_of(plan, &kinds), servers.clone()));
        }
        if is_cut(plan) {
            plan.children().into_iter().for_each(|input| self.add(input, to, servers.clone()));
        }
    }

    /// A headline and a line for each bundle. `is_run` says whether the plan has been run.
    pub fn lines(&self, is_run: bool) -> Vec<String> {
        let all = self.bundles.iter().flat_map(|bundle| &bundle.operators);
        let here = all.flat_map(|(_, servers)| servers).find_map(|servers| servers.first());
        let mut lines = vec![format!("Bundles ({}):", self.scheme.name())];
        for (number, bundle) in (1..).zip(&self.bundles) {
            let mut line = format!("  {number}. {}", bundle.operators(here));
            if let Some(Amounts { rows, bytes, spilled }) = bundle.stored.filter(|_| is_run) {
                line += &format!(": {rows} rows stored ({bytes} bytes), {spilled} bytes spilled");
            }
            lines.push(line);
        }
        lines
    }
}

impl Bundle {
    /// The operators, with their servers if any bundle runs on several; `here` is the coordinator.
    fn operators(&self, here: Option<&String>) -> String {
        let Some(here) = here else { return joined(&self.operators) };
        let groups = self.operators.chunk_by(|(_, one), (_, other)| one == other);
        let groups = groups.map(|group| {
            let servers = group[0].1.as_ref().map_or(here.clone(), |servers| servers.join(", "));
            format!("{} on {servers}", joined(group))
        });
        groups.collect::<Vec<_>>().join("; ")
    }
}

/// The name of an operator that performs these steps.
fn name_of(plan: &Arc<dyn ExecutionPlan>, steps: &[Kind]) -> String {
    let steps: Vec<&str> = steps.iter().map(|step| step.name()).collect();
    let read = scan_of(plan).map_or_else(|| plan.name().into(), BucketScan::name_of_table);
    match steps[..] {
        [] => plan.name().to_owned(),
        [scan] if plan.children().is_empty() => format!("{scan} {read}"),
        _ => steps.join(" + "),
    }
}

fn joined(operators: &[(String, Servers)]) -> String {
    operators.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(" + ")
}
