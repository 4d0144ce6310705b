//! The multiply: who is data, who is weight, and what is summed over.

use super::Step;
use crate::{
    ir::{OperandRole, WindowId, WindowLayout},
    verify::Rule,
};

impl Step<'_, '_> {
    pub(super) fn multiply(&mut self, to: WindowId, data: WindowId, weights: WindowId, swap: bool) {
        let roles = [WindowLayout::ActivationTiles, WindowLayout::WeightTiles];
        let [data_role, weights_role] = if swap { [roles[1], roles[0]] } else { roles };
        for (window, wanted, part) in [(data, data_role, "data"), (weights, weights_role, "weights")] {
            let declared = &self.view.kernel.windows[window.0];
            if declared.layout != wanted {
                let way_out = if declared.layout.is_hmx() && declared.layout != WindowLayout::OutputTiles {
                    if swap { "write `DATA * WEIGHTS` without `swap`, or" } else { "write `swap(DATA, WEIGHTS)`, or" }
                } else {
                    "convert it first, and"
                };
                self.error(
                    Rule::Role,
                    format!(
                        "the {part} of this multiply must be {}, `{}` is {}",
                        wanted.keyword(),
                        declared.name,
                        declared.layout.keyword()
                    ),
                    format!("{way_out} declare the window as `{}`", wanted.keyword()),
                );
                return;
            }
        }
        self.origins(data, weights);
        if !self.layout(to, &[WindowLayout::OutputTiles], "fill") {
            return;
        }
        let (activation, weight) = if swap { (weights, data) } else { (data, weights) };
        if let (Some([rows, run]), Some([cols, _])) = (self.view.axes(activation), self.view.axes(weight)) {
            if rows == cols || rows == run || cols == run {
                self.error(
                    Rule::Axes,
                    "a multiply needs three axes: rows, columns and the contraction".into(),
                    "the windows of data and weights share their second extent only".into(),
                );
            } else {
                self.axes(to, [rows, cols]);
            }
        }
    }

    fn origins(&mut self, data: WindowId, weights: WindowId) {
        for (window, wanted, what) in
            [(data, OperandRole::Activation, "token rows"), (weights, OperandRole::Weight, "a weight")]
        {
            let Some(origin) = self.view.origin(window).map(|o| &self.view.kernel.operands[o.0]) else {
                continue;
            };
            if origin.role == wanted {
                continue;
            }
            let declared = self.view.kernel.operands.iter().find(|o| o.role == wanted);
            self.error(
                Rule::Role,
                format!("`{}` does not hold {what}: it is made from `{}`", self.view.window_name(window), origin.name),
                match declared {
                    Some(operand) => format!(
                        "the first operand of a multiply is made from token rows, the second from the weight: make it from \
                         `{}`",
                        operand.name
                    ),
                    None => {
                        let role = if wanted == OperandRole::Weight { "weight" } else { "activation" };
                        format!("the kernel declares no operand of role `{role}`: declare one, and make the window from it")
                    }
                },
            );
        }
    }
}
