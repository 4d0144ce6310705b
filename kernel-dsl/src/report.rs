//! Collects the mistakes of one run.

use proc_macro2::{Span, TokenStream};

use crate::version::{Version, words};

#[derive(Default)]
pub(crate) struct Report {
    errors: Vec<syn::Error>,
}

impl Report {
    pub fn error(&mut self, span: Span, message: impl std::fmt::Display) {
        self.errors.push(syn::Error::new(span, message));
    }

    pub fn syntax(&mut self, error: syn::Error) {
        self.errors.push(error);
    }

    /// The mistakes of one kernel text: those of every version once, the others with the versions that have them.
    pub fn merge(&mut self, reports: Vec<(Version, Report)>) {
        let all: Vec<Version> = reports.iter().map(|(version, _)| *version).collect();
        let mut merged: Vec<(syn::Error, Vec<Version>)> = Vec::new();
        for (version, report) in reports {
            for error in report.errors {
                match merged.iter_mut().find(|(e, _)| same(e, &error)) {
                    // The same step in two loops is reported twice for one version.
                    Some((_, versions)) if versions.contains(&version) => {}
                    Some((_, versions)) => versions.push(version),
                    None => merged.push((error, vec![version])),
                }
            }
        }
        for (error, versions) in merged {
            match words(&versions, &all) {
                None => self.errors.push(error),
                Some(words) => self.error(error.span(), format!("{error} ({words})")),
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// One `compile_error!` for each mistake, in the order found.
    pub fn into_compile_errors(self) -> TokenStream {
        self.errors.iter().map(syn::Error::to_compile_error).collect()
    }
}

/// Spans can be told apart by what they print only.
fn same(a: &syn::Error, b: &syn::Error) -> bool {
    a.to_string() == b.to_string() && format!("{:?}", a.span()) == format!("{:?}", b.span())
}
