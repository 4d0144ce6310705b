//! Loops and steps as `kernel_gen` values.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::{Names, definition::applied, source};
use crate::tree::{Conversion, Loop, Side, Statement, Step, StepKind, Unpack};

pub(super) fn statements<'k>(
    names: &Names<'_>,
    body: &'k [Statement],
    loops: &mut Vec<&'k Loop>,
) -> Option<Vec<TokenStream>> {
    body.iter()
        .map(|statement| match statement {
            Statement::Step(step) => self::step(names, step, loops),
            Statement::Loop(l) => {
                let (name, source) = (l.variable.to_string(), source(l.variable.span()));
                let (axis, tile) = (names.axis(&l.axis)?, names.tunable(&l.tile)?);
                let pipeline = l.pipeline.iter().map(|w| names.window(w)).collect::<Option<Vec<_>>>()?;
                loops.push(l);
                let body = statements(names, &l.body, loops);
                loops.pop();
                let body = body?;
                Some(quote!(ir::Statement::Loop(ir::Loop {
                    name: #name.into(),
                    axis: #axis,
                    tile: #tile,
                    pipeline: ::std::vec![#(#pipeline),*],
                    body: ::std::vec![#(#body),*],
                    source: #source,
                })))
            }
        })
        .collect()
}

fn step(names: &Names<'_>, step: &Step, loops: &[&Loop]) -> Option<TokenStream> {
    let source = source(step.keyword.span());
    let kind = match &step.kind {
        StepKind::Load { to, from } => {
            let window = names.window(to)?;
            let (operand, block) = names.block(from, loops)?;
            quote!(Load { window: #window, operand: #operand, block: #block })
        }
        StepKind::Pack { side, to, from, scale } => {
            let window = names.window(to)?;
            let (operand, block) = names.block(from, loops)?;
            let kind = match side {
                Side::Rows => quote!(PackRows),
                Side::Cols => quote!(PackCols),
            };
            quote!(#kind { window: #window, operand: #operand, block: #block, scale: #scale })
        }
        StepKind::Convert { conversion, to, from } => {
            let (to, from) = (names.window(to)?, names.window(from)?);
            match conversion {
                Conversion::InterleavePairs => quote!(InterleavePairs { to: #to, from: #from }),
                Conversion::ScatterWords => quote!(ScatterWords { to: #to, from: #from }),
                Conversion::Dequantise => quote!(Dequantise { to: #to, from: #from }),
                Conversion::Apply(name) => {
                    let index = applied(names.kernel).iter().position(|s| s.name == *name)?;
                    quote!(Apply { step: ir::HvxStepId(#index), to: #to, from: #from })
                }
            }
        }
        StepKind::Multiply { to, data, weights, swap } => {
            let (to, data, weights) = (names.window(to)?, names.window(data)?, names.window(weights)?);
            quote!(Multiply { to: #to, data: #data, weights: #weights, swap: #swap })
        }
        StepKind::Unpack(Unpack { side, to, from, unscale, column_scale, column_bias, guard }) => {
            let vector = |name: &Option<Ident>| match name {
                Some(name) => names.operand(name).map(|id| quote!(::core::option::Option::Some(#id))),
                None => Some(quote!(::core::option::Option::None)),
            };
            let (column_scale, column_bias) = (vector(column_scale)?, vector(column_bias)?);
            let window = names.window(from)?;
            let (operand, block) = names.block(to, loops)?;
            let kind = match side {
                Side::Rows => quote!(UnpackRows),
                Side::Cols => quote!(UnpackCols),
            };
            let guard = match guard {
                Some(limit) => quote!(::core::option::Option::Some(#limit)),
                None => quote!(::core::option::Option::None),
            };
            quote!(#kind {
                operand: #operand,
                block: #block,
                window: #window,
                unscale: #unscale,
                columns: ir::ColumnFactors { scale: #column_scale, bias: #column_bias },
                guard: #guard,
            })
        }
    };
    let split = match &step.split {
        Some(axis) => {
            let axis = names.axis(axis)?;
            quote!(::core::option::Option::Some(#axis))
        }
        None => quote!(::core::option::Option::None),
    };
    Some(quote!(ir::Statement::Step(ir::Step { kind: ir::StepKind::#kind, split: #split, source: #source })))
}
