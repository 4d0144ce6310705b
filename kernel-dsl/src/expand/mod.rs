//! From the syntax tree to Rust that builds `kernel_gen` values.

mod declaration;
mod definition;
mod reference;
mod requirement;
mod schedule;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use declaration::{operands, tunables, windows};
use definition::{applied, hvx_step};
use reference::reference;
use requirement::requirements;
use schedule::statements;

use crate::{
    check, parse,
    report::Report,
    tree::{AxisRole, Block, Kernel, Loop},
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
    let requirements = kernel.requirements.iter().map(|r| requirements(kernel, r)).collect::<Option<Vec<_>>>()?;
    let requirements = requirements.into_iter().flatten();
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
