//! From the syntax tree to Rust that builds `kernel_gen` values.

mod definition;
mod requirement;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use definition::{applied, hvx_step, tile_format};
use requirement::requirement;

use crate::{
    check, parse,
    report::Report,
    tree::{
        AxisRole, Block, BlockFormat, Candidates, Conversion, Element, Kernel, Loop, OperandLayout, OperandRole, Scope,
        Side, Statement, Step, StepKind, TileFormat, Unpack, WindowLayout,
    },
};

/// One macro call.
pub(crate) fn macro_input(tokens: TokenStream) -> TokenStream {
    let mut report = Report::default();
    let (definitions, kernels) = parse::kernels(tokens, &mut report);
    check::definitions(&definitions, &kernels, &mut report);
    let mut functions = TokenStream::new();
    for text in &kernels {
        let mut sound = true;
        let mut reports = Vec::new();
        for kernel in text.iter().flatten() {
            let mut own = Report::default();
            check::kernel(kernel, &mut own);
            sound &= own.is_empty() && kernel.complete;
            reports.push((kernel.version, own));
        }
        report.merge(reports);
        for archs in text {
            let body = if sound { by_arch(archs) } else { None };
            functions.extend(archs.first().map(|kernel| function(kernel, body)));
        }
    }
    let errors = report.into_compile_errors();
    quote!(#errors #functions)
}

/// `fn name() -> Kernel`. Without a body the kernel has mistakes, which stop the build; the function still has its type.
fn function(kernel: &Kernel, body: Option<TokenStream>) -> TokenStream {
    let Kernel { docs, visibility, name, .. } = kernel;
    let body = body.unwrap_or_else(|| quote!(::core::unreachable!("this kernel did not compile")));
    quote! {
        #(#docs)*
        #visibility fn #name() -> ::kernel_gen::Kernel {
            #body
        }
    }
}

/// The kernel of the first architecture with those of the others as its variants.
fn by_arch(kernels: &[Kernel]) -> Option<TokenStream> {
    let (first, others) = kernels.split_first()?;
    let variants = others.iter().map(|kernel| {
        let arch = Ident::new(&kernel.version.arch.word().to_uppercase(), Span::call_site());
        let kernel = body(kernel, &[])?;
        Some(quote!(ir::Variant { arch: ::kernel_gen::Arch::#arch, kernel: #kernel }))
    });
    let kernel = body(first, &variants.collect::<Option<Vec<_>>>()?)?;
    Some(quote! {
        use ::kernel_gen::ir;
        #kernel
    })
}

/// The kernel as a value; `None` if a name stands for nothing, which the checks have reported.
fn body(kernel: &Kernel, variants: &[TokenStream]) -> Option<TokenStream> {
    let name = kernel.name.to_string();
    let source = source(kernel.name.span());
    let doc = doc_lines(&kernel.docs);
    let axes = kernel.axes.iter().map(|axis| {
        let (name, source) = (axis.name.to_string(), self::source(axis.name.span()));
        let role = match axis.role {
            AxisRole::Token => quote!(Token),
            AxisRole::Out => quote!(Out),
            AxisRole::In => quote!(In),
        };
        quote!(ir::Axis { name: #name.into(), role: ir::AxisRole::#role, source: #source })
    });
    let names = Names { kernel };
    let operands = operands(&names)?;
    let tunables = tunables(kernel);
    let windows = windows(&names)?;
    let schedule = statements(&names, kernel.schedule.as_deref()?, &mut Vec::new())?;
    let steps = applied(kernel).into_iter().map(hvx_step);
    let reference = reference(kernel)?;
    let requirements = kernel.requirements.iter().map(|r| requirement(kernel, r)).collect::<Option<Vec<_>>>()?;
    Some(quote! {
        ir::Kernel {
            name: #name.into(),
            doc: ::std::vec![#(#doc.into()),*],
            source: #source,
            axes: ::std::vec![#(#axes),*],
            operands: ::std::vec![#(#operands),*],
            tunables: ::std::vec![#(#tunables),*],
            windows: ::std::vec![#(#windows),*],
            requirements: ::std::vec![#(#requirements),*],
            steps: ::std::vec![#(#steps),*],
            schedule: ::std::vec![#(#schedule),*],
            reference: #reference,
            variants: ::std::vec![#(#variants),*],
        }
    })
}

/// The position of `span` as the compiler sees it.
fn source(span: Span) -> TokenStream {
    quote_spanned! {span=>
        ::kernel_gen::ir::Source { file: ::core::file!(), line: ::core::line!(), column: ::core::column!() }
    }
}

fn doc_lines(docs: &[syn::Attribute]) -> Vec<String> {
    let mut lines = Vec::new();
    for attribute in docs {
        let syn::Meta::NameValue(pair) = &attribute.meta else {
            continue;
        };
        let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &pair.value else {
            continue;
        };
        lines.extend(text.value().split('\n').map(|line| line.trim().to_string()));
    }
    lines
}

/// Indices of names.
struct Names<'k> {
    kernel: &'k Kernel,
}

impl Names<'_> {
    fn axis(&self, name: &Ident) -> Option<TokenStream> {
        let index = self.kernel.axes.iter().position(|a| a.name == *name)?;
        Some(quote!(ir::AxisId(#index)))
    }

    fn operand(&self, name: &Ident) -> Option<TokenStream> {
        let index = self.kernel.operands.iter().position(|o| o.name == *name)?;
        Some(quote!(ir::OperandId(#index)))
    }

    fn tunable(&self, name: &Ident) -> Option<TokenStream> {
        let index = self.kernel.tunables.iter().position(|t| t.name == *name)?;
        Some(quote!(ir::TunableId(#index)))
    }

    fn window(&self, name: &Ident) -> Option<TokenStream> {
        let index = self.kernel.windows.iter().position(|w| w.name == *name)?;
        Some(quote!(ir::WindowId(#index)))
    }

    /// Operand and block axes of `x[mo, ko]` inside `loops`.
    fn block(&self, block: &Block, loops: &[&Loop]) -> Option<(TokenStream, TokenStream)> {
        let operand = self.operand(&block.operand)?;
        let axis = |variable: &Ident| self.axis(&loops.iter().rev().find(|l| l.variable == *variable)?.axis);
        let (rows, cols) = (axis(&block.variables[0])?, axis(&block.variables[1])?);
        Some((operand, quote!([#rows, #cols])))
    }
}

fn element(element: Element) -> TokenStream {
    match element {
        Element::F32 => quote!(ir::Element::F32),
        Element::F16 => quote!(ir::Element::F16),
        Element::Bf16 => quote!(ir::Element::Bf16),
        Element::Packed => quote!(ir::Element::Packed),
    }
}

/// `Tiles(format)` of an operand's or a window's layout.
fn tiles(format: &TileFormat) -> TokenStream {
    let format = tile_format(format);
    quote!(Tiles(#format))
}

/// `Blocks(format)` of an operand's or a window's layout.
fn blocks(format: BlockFormat) -> TokenStream {
    match format {
        BlockFormat::Q8_0 => quote!(Blocks(ir::BlockFormat::Q8_0)),
    }
}

fn operands(names: &Names<'_>) -> Option<Vec<TokenStream>> {
    let one = |operand: &crate::tree::Operand| {
        let (name, source) = (operand.name.to_string(), source(operand.name.span()));
        let role = match operand.role {
            OperandRole::Activation => quote!(Activation),
            OperandRole::Weight => quote!(Weight),
            OperandRole::Column => quote!(Column),
            OperandRole::Output => quote!(Output),
        };
        let layout = match &operand.layout {
            OperandLayout::RowMajor => quote!(RowMajor),
            OperandLayout::Vector => quote!(Vector),
            OperandLayout::Tiles(format) => tiles(format),
            OperandLayout::Blocks(format) => blocks(*format),
        };
        let scope = match operand.scope {
            Scope::DdrResident => quote!(DdrResident),
            Scope::DdrStream => quote!(DdrStream),
        };
        let element = element(operand.element);
        let (rows, cols) = (names.axis(&operand.axes[0])?, names.axis(&operand.axes[1])?);
        Some(quote!(ir::Operand {
            name: #name.into(),
            role: ir::OperandRole::#role,
            element: #element,
            layout: ir::OperandLayout::#layout,
            axes: [#rows, #cols],
            scope: ir::Scope::#scope,
            source: #source,
        }))
    };
    names.kernel.operands.iter().map(one).collect()
}

fn tunables(kernel: &Kernel) -> Vec<TokenStream> {
    let one = |tunable: &crate::tree::Tunable| {
        let (name, source) = (tunable.name.to_string(), source(tunable.name.span()));
        let multiple_of = tunable.multiple_of;
        let candidates = match &tunable.candidates {
            Candidates::List(values) => quote!(ir::Candidates::List(::std::vec![#(#values),*])),
            Candidates::Range(min, max) => quote!(ir::Candidates::Range { min: #min, max: #max }),
        };
        quote!(ir::Tunable {
            name: #name.into(),
            candidates: #candidates,
            multiple_of: #multiple_of,
            source: #source,
        })
    };
    kernel.tunables.iter().map(one).collect()
}

fn windows(names: &Names<'_>) -> Option<Vec<TokenStream>> {
    let one = |window: &crate::tree::Window| {
        let (name, source) = (window.name.to_string(), source(window.name.span()));
        let layout = match &window.layout {
            WindowLayout::ActivationTiles => quote!(ActivationTiles),
            WindowLayout::WeightTiles => quote!(WeightTiles),
            WindowLayout::OutputTiles => quote!(OutputTiles),
            WindowLayout::RowMajor => quote!(RowMajor),
            WindowLayout::Tiles(format) => tiles(format),
            WindowLayout::Blocks(format) => blocks(*format),
        };
        let element = element(window.element);
        let (rows, cols) = (names.tunable(&window.extents[0])?, names.tunable(&window.extents[1])?);
        let stages = window.stages;
        Some(quote!(ir::Window {
            name: #name.into(),
            layout: ir::WindowLayout::#layout,
            element: #element,
            extents: [#rows, #cols],
            stages: #stages,
            source: #source,
        }))
    };
    names.kernel.windows.iter().map(one).collect()
}

fn statements<'k>(names: &Names<'_>, body: &'k [Statement], loops: &mut Vec<&'k Loop>) -> Option<Vec<TokenStream>> {
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
        StepKind::Unpack(Unpack { side, to, from, accumulate, unscale, column_scale, column_bias, guard }) => {
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
                accumulate: #accumulate,
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

/// The reference closure as a function. Axes and operands become methods of its first argument: `c.k()`, `c.x(i, k)`.
fn reference(kernel: &Kernel) -> Option<TokenStream> {
    let closure = kernel.reference.as_ref()?;
    let extents = kernel.axes.iter().enumerate().map(|(index, axis)| {
        let name = &axis.name;
        quote! {
            #[allow(dead_code)]
            fn #name(&self) -> usize { self.0.extent(#index) }
        }
    });
    let elements = kernel.operands.iter().enumerate().map(|(index, operand)| {
        let name = &operand.name;
        if operand.layout == OperandLayout::Vector {
            return quote! {
                #[allow(dead_code)]
                #[inline]
                #[track_caller]
                fn #name(&self, j: usize) -> f64 { self.0.element(#index, 0, j) }
            };
        }
        quote! {
            #[allow(dead_code)]
            #[inline]
            #[track_caller]
            fn #name(&self, i: usize, j: usize) -> f64 { self.0.element(#index, i, j) }
        }
    });
    let (case, i, j) = (&closure.inputs[0], &closure.inputs[1], &closure.inputs[2]);
    let body = &closure.body;
    let mixed = Span::mixed_site();
    let [inner, row, col] = ["inner", "row", "col"].map(|name| Ident::new(name, mixed));
    Some(quote! {{
        struct Case<'a>(&'a ir::ReferenceCase<'a>);
        impl Case<'_> {
            #(#extents)*
            #(#elements)*
        }
        fn element(#inner: &ir::ReferenceCase<'_>, #row: usize, #col: usize) -> f64 {
            let (#case, #i, #j) = (Case(#inner), #row, #col);
            #body
        }
        ir::Reference::new(element)
    }})
}
