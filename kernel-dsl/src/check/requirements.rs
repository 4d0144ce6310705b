//! Requirements: sound by themselves, and satisfiable together where tile sizes alone decide.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;

use crate::{
    report::Report,
    requirement::{Compiled, Quantity, compile},
    rules::{
        conflict::{Condition, conflict, most_candidates},
        limits::MAX_EXTENT,
        refusal::{Outcome, Refusal},
    },
    tree::{Candidates, Kernel, Tunable},
};

pub(super) fn check(kernel: &Kernel, report: &mut Report) {
    let mut compiled = Vec::new();
    for requirement in &kernel.requirements {
        if names_unreadable(kernel, requirement.condition.to_token_stream()) {
            continue;
        }
        match compile(kernel, &requirement.condition) {
            Ok(parts) => compiled.extend(parts.into_iter().map(|part| (requirement.keyword.span(), part))),
            Err(error) => report.syntax(error),
        }
    }
    let decided: Vec<_> = compiled.iter().filter_map(|(span, part)| Some((*span, part, condition(part)?))).collect();
    let (mut parts, mut conditions) = (Vec::new(), Vec::new());
    for (span, part, condition) in decided {
        parts.push((span, part));
        conditions.push(condition);
    }
    let candidates: Vec<_> = kernel.tunables.iter().map(candidates).collect();
    let Some(blamed) = conflict(&candidates, &conditions) else {
        return;
    };
    if let [one] = *blamed {
        let (span, part) = parts[one];
        let names: Vec<String> = kernel.tunables.iter().map(|t| t.name.to_string()).collect();
        let tunables = &conditions[one].tunables;
        let outcome = |tiles: &[u32]| {
            let values: Vec<u64> = tunables.iter().map(|&t| tiles[t].into()).collect();
            let named = tunables.iter().map(|&t| format!("{}={}", names[t], tiles[t]));
            Outcome {
                holds: part.holds(&values),
                sides: part.sides.as_ref().map(|sides| sides.each_ref().map(|side| (side.judge)(&values))),
                values: named.collect::<Vec<_>>().join(", "),
            }
        };
        let refusal = Refusal { text: &part.text, tunables, names: &names, candidates: &candidates, outcome: &outcome };
        let (message, help) = refusal.explain();
        report.error(span, format!("{message}; {help}"));
        return;
    }
    let texts: Vec<_> = blamed.iter().map(|&index| format!("`require {}`", parts[index].1.text)).collect();
    let message = match texts.as_slice() {
        [one, other] => {
            format!(
                "{one} and {other} contradict each other: no candidates satisfy both; loosen one, or put each into a `when`"
            )
        }
        more => format!("no candidates satisfy {} together: loosen one of them", more.join(", ")),
    };
    if let Some(&last) = blamed.last() {
        report.error(parts[last].0, message);
    }
}

/// Whether the declaration of something it names could not be read, which is a mistake already.
fn names_unreadable(kernel: &Kernel, condition: TokenStream) -> bool {
    condition.into_iter().any(|token| match token {
        TokenTree::Ident(name) => kernel.unreadable.contains(&name),
        TokenTree::Group(group) => names_unreadable(kernel, group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// A requirement that depends on tunables alone.
fn condition(part: &Compiled) -> Option<Condition<'_>> {
    let tunable = |quantity: &Quantity| match quantity {
        Quantity::Tunable(index) => Some(*index),
        _ => None,
    };
    let tunables = part.uses.iter().map(tunable).collect::<Option<Vec<_>>>()?;
    let own = tunables.clone();
    let holds =
        move |tiles: &[u32]| part.holds(&own.iter().map(|&t| tiles[t].into()).collect::<Vec<_>>()) == Some(true);
    Some(Condition { tunables, holds: Box::new(holds) })
}

/// The legal values of a tunable, cut where [`conflict`] stops looking.
fn candidates(tunable: &Tunable) -> Vec<u32> {
    let step = tunable.multiple_of.max(1);
    match &tunable.candidates {
        Candidates::List(values) => values.iter().copied().filter(|v| (1..=MAX_EXTENT).contains(v)).collect(),
        Candidates::Range(min, max) => {
            let first = u64::from((*min).max(1)).next_multiple_of(step.into());
            let last = u64::from((*max).min(MAX_EXTENT));
            (first..=last)
                .step_by(step as usize)
                .take(most_candidates())
                .filter_map(|v| u32::try_from(v).ok())
                .collect()
        }
    }
}
