//! Cutting a plan into bundles.

use crate::{Kind, Scheme};

/// A plan as [`cut`] sees it: a tree of operators.
pub trait Tree {
    /// Identifies an operator.
    type Node: Copy;

    /// The operator at the top.
    fn root(&self) -> Self::Node;
    /// The steps of an operator, the last one first. Most operators have one step. An operator without steps is outside
    /// the relation: it is a bundle of its own in every scheme.
    fn kinds(&self, node: Self::Node) -> Vec<Kind>;
    /// The inputs of an operator.
    fn children(&self, node: Self::Node) -> Vec<Self::Node>;
}

/// The operators of one bundle, the topmost first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle<N>(pub Vec<N>);

/// Cuts a tree greedily from the root: a child joins its parent's bundle if the scheme binds the pair. Returns the bundles
/// in execution order: each follows those that produce its inputs.
pub fn cut<T: Tree>(tree: &T, scheme: Scheme) -> Vec<Bundle<T::Node>> {
    let mut bundles = Vec::new();
    cut_below(tree, tree.root(), scheme, &mut bundles);
    bundles
}

/// Appends the bundles below `top`, then the one that `top` heads.
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

    /// A chain of operators, each the input of the next.
    struct Chain(Vec<Vec<Kind>>);

    impl Tree for Chain {
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
        let chain = Chain(vec![vec![scan], group, vec![Kind::Sort]]);
        let bundles = |scheme| cut(&chain, scheme).into_iter().map(|bundle| bundle.0).collect();
        let [none, optimal, excessive, pipelined]: [Vec<_>; 4] = Scheme::ALL.map(bundles);
        assert_eq!(none, [vec![0], vec![1], vec![2]]);
        assert_eq!(optimal, [vec![1, 0], vec![2]]);
        assert_eq!(excessive, [vec![2, 1, 0]]);
        assert_eq!(pipelined, excessive);
    }

    #[test]
    fn a_pipeline_is_one_bundle() {
        let chain =
            Chain(vec![vec![Kind::SequentialScan], vec![Kind::Aggregate], vec![Kind::HashJoin]]);
        assert_eq!(cut(&chain, Scheme::Excessive).len(), 3);
        assert_eq!(cut(&chain, Scheme::Pipelined), [Bundle(vec![2, 1, 0])]);
    }

    #[test]
    fn an_operator_without_steps_is_a_bundle_of_its_own() {
        let chain = Chain(vec![vec![Kind::SequentialScan], vec![], vec![Kind::Sort]]);
        for scheme in Scheme::ALL {
            assert_eq!(cut(&chain, scheme).len(), 3);
        }
    }
}
