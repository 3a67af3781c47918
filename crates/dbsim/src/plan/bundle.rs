//! Bundles: operators of a plan that every unit runs together, without handing a result over between them (E2).
//!
//! The tree is cut greedily from the root: a child joins its parent's bundle if the pair is bindable. Generic over the
//! tree ([`Tree`]), so that any planner can cut its own.

use super::{Kind, OperatorId, Plan};
use crate::experiment::ARCHITECTURES;
use std::str::FromStr;

/// A tree of operators, as far as cutting it needs to know.
pub trait Tree {
    /// How an operator is named.
    type Node: Copy;

    /// The operator at the top.
    fn root(&self) -> Self::Node;
    /// What an operator does, its last step first: more than one thing where it does several in one. One of which the
    /// relation knows nothing does none of them, and is bound to nothing.
    fn kinds(&self, node: Self::Node) -> Vec<Kind>;
    /// Its inputs.
    fn children(&self, node: Self::Node) -> Vec<Self::Node>;
}

impl Tree for Plan {
    type Node = OperatorId;

    fn root(&self) -> OperatorId {
        self.root()
    }

    fn kinds(&self, node: OperatorId) -> Vec<Kind> {
        vec![self.operators()[node].kind]
    }

    fn children(&self, node: OperatorId) -> Vec<OperatorId> {
        self.operators()[node].children.clone()
    }
}

/// Which pairs are bindable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scheme {
    /// No pairs: every operator is a bundle.
    None,
    /// Scans with joins and group-by, group-by with aggregate.
    Optimal,
    /// These and scan-sort, sort-group, sort-aggregate, aggregate-sort, aggregate-group.
    Excessive,
    /// All pairs: nothing is put away between operators, as Pando runs plans where nobody wants it otherwise.
    Pipelined,
}

impl Scheme {
    /// All schemes.
    pub const ALL: [Self; 4] = [Self::None, Self::Optimal, Self::Excessive, Self::Pipelined];
    /// Those that are published.
    pub const PUBLISHED: [Self; 3] = [Self::None, Self::Optimal, Self::Excessive];

    /// The one that fits an architecture: the paper's own on its machines, and on others none that puts anything away.
    pub fn usual(architecture: &str) -> Self {
        if ARCHITECTURES.contains(&architecture) { Self::Optimal } else { Self::Pipelined }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Optimal => "optimal",
            Self::Excessive => "excessive",
            Self::Pipelined => "pipelined",
        }
    }

    /// Whether a child may be in its parent's bundle. Of windows, unions, recursions and subqueries the relation knows nothing; values are read as
    /// tables are.
    pub fn binds(self, child: Kind, parent: Kind) -> bool {
        let optimal = match parent {
            Kind::NestedLoopJoin | Kind::MergeJoin | Kind::HashJoin | Kind::GroupBy => {
                child.is_leaf()
            }
            Kind::Aggregate => child == Kind::GroupBy,
            _ => false,
        };
        let excessive = match parent {
            Kind::Sort => child.is_leaf() || child == Kind::Aggregate,
            Kind::GroupBy => matches!(child, Kind::Sort | Kind::Aggregate),
            Kind::Aggregate => child == Kind::Sort,
            _ => false,
        };
        match self {
            Self::None => false,
            Self::Optimal => optimal,
            Self::Excessive => optimal || excessive,
            Self::Pipelined => true,
        }
    }
}

impl FromStr for Scheme {
    type Err = crate::Error;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|scheme| scheme.name() == name);
        let names = Self::ALL.iter().map(|scheme| scheme.name());
        found.ok_or_else(|| crate::Error::unknown("scheme of bundles", name, names))
    }
}

/// Operators of one bundle, its topmost first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle<N>(pub Vec<N>);

/// Cuts a tree: bundles in the order in which they run, those that others need first.
pub fn cut<T: Tree>(tree: &T, scheme: Scheme) -> Vec<Bundle<T::Node>> {
    let mut bundles = Vec::new();
    cut_below(tree, tree.root(), scheme, &mut bundles);
    bundles
}

/// The bundle of an operator at the top of one, after those below it.
fn cut_below<T: Tree>(tree: &T, top: T::Node, scheme: Scheme, bundles: &mut Vec<Bundle<T::Node>>) {
    let mut bundle = Vec::new();
    let mut open = vec![top];
    while let Some(node) = open.pop() {
        bundle.push(node);
        let first = tree.kinds(node).pop();
        let is_bound = |child: &T::Node| {
            let last = tree.kinds(*child).first().copied();
            last.zip(first).is_some_and(|(child, parent)| scheme.binds(child, parent))
        };
        let (within, below): (Vec<_>, Vec<_>) = tree.children(node).into_iter().partition(is_bound);
        open.extend(within.into_iter().rev());
        below.into_iter().for_each(|child| cut_below(tree, child, scheme, bundles));
    }
    bundles.push(Bundle(bundle));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published relation, pair by pair.
    #[test]
    fn each_scheme_binds_its_pairs_and_no_others() {
        let scans = [Kind::SequentialScan, Kind::IndexScan, Kind::Values];
        let parents = [Kind::NestedLoopJoin, Kind::MergeJoin, Kind::HashJoin, Kind::GroupBy];
        let mut optimal: Vec<_> =
            scans.iter().flat_map(|scan| parents.iter().map(|parent| (*scan, *parent))).collect();
        optimal.push((Kind::GroupBy, Kind::Aggregate));
        let mut excessive = optimal.clone();
        excessive.extend(scans.map(|scan| (scan, Kind::Sort)));
        excessive.extend([
            (Kind::Sort, Kind::GroupBy),
            (Kind::Sort, Kind::Aggregate),
            (Kind::Aggregate, Kind::Sort),
            (Kind::Aggregate, Kind::GroupBy),
        ]);
        let bound = |scheme: Scheme| {
            let pairs = Kind::ALL.iter().flat_map(|c| Kind::ALL.iter().map(|p| (*c, *p)));
            let mut pairs: Vec<_> =
                pairs.filter(|(child, parent)| scheme.binds(*child, *parent)).collect();
            pairs.sort();
            pairs
        };
        optimal.sort();
        excessive.sort();
        assert_eq!(bound(Scheme::None), []);
        assert_eq!(bound(Scheme::Optimal), optimal);
        assert_eq!(bound(Scheme::Excessive), excessive);
    }

    /// Operators in a row, each the input of the next.
    struct Row(Vec<Vec<Kind>>);

    impl Tree for Row {
        type Node = usize;

        fn root(&self) -> usize {
            self.0.len() - 1
        }

        fn kinds(&self, node: usize) -> Vec<Kind> {
            self.0[node].clone()
        }

        fn children(&self, node: usize) -> Vec<usize> {
            node.checked_sub(1).into_iter().collect()
        }
    }

    #[test]
    fn an_operator_of_two_steps_is_bound_by_its_first_and_its_last() {
        let (scan, group) = (Kind::SequentialScan, vec![Kind::Aggregate, Kind::GroupBy]);
        let row = Row(vec![vec![scan], group, vec![Kind::Sort]]);
        let bundles = |scheme| cut(&row, scheme).into_iter().map(|bundle| bundle.0).collect();
        let [none, optimal, excessive, pipelined]: [Vec<_>; 4] = Scheme::ALL.map(bundles);
        assert_eq!(none, [vec![0], vec![1], vec![2]]);
        assert_eq!(optimal, [vec![1, 0], vec![2]]);
        assert_eq!(excessive, [vec![2, 1, 0]]);
        assert_eq!(pipelined, excessive);
    }

    #[test]
    fn a_pipeline_is_one_bundle() {
        let row =
            Row(vec![vec![Kind::SequentialScan], vec![Kind::Aggregate], vec![Kind::HashJoin]]);
        assert_eq!(cut(&row, Scheme::Excessive).len(), 3);
        assert_eq!(cut(&row, Scheme::Pipelined), [Bundle(vec![2, 1, 0])]);
        assert_eq!(Scheme::usual("smart-disk"), Scheme::Optimal);
        assert_eq!(Scheme::usual("nvme-server"), Scheme::Pipelined);
    }

    #[test]
    fn what_the_relation_does_not_know_is_bound_to_nothing() {
        let row = Row(vec![vec![Kind::SequentialScan], vec![], vec![Kind::Sort]]);
        assert_eq!(cut(&row, Scheme::Excessive).len(), 3);
    }

    #[test]
    fn schemes_have_names() {
        for scheme in Scheme::ALL {
            assert_eq!(scheme.name().parse(), Ok(scheme));
        }
        assert!("all".parse::<Scheme>().is_err());
    }
}
