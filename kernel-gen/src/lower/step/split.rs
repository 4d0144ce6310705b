//! A step whose strips are dealt out to the HVX workers.

use super::Body;

impl Body<'_> {
    /// The function of one worker: every `workers`th strip, from its own number on.
    pub(super) fn share(&mut self, takes_request: bool, staged: bool) {
        let (function, kernel) = (self.function.clone(), self.kernel().name.clone());
        let mut fields = vec![("const struct pf_plan *", "plan")];
        if takes_request {
            fields.push(("const struct pf_request *", "request"));
        }
        let block = format!("const struct {kernel}_block *");
        fields.push((&block, "at"));
        if staged {
            fields.push(("const uint32_t ", "stage"));
        }
        self.code.open(format!("struct {function}_work"));
        for (kind, name) in &fields {
            self.code.line(format!("{kind}{name};"));
        }
        self.code.close_with(";");
        self.code.blank();
        self.code.open(format!(
            "static void {function}_share(pf_device *dev, const void *argument, uint32_t worker, uint32_t workers)"
        ));
        self.code.line(format!("const struct {function}_work *work = argument;"));
        for (kind, name) in &fields {
            self.code.line(format!("{kind}{name} = work->{name};"));
        }
        self.work();
        self.code.close();
        self.code.blank();
    }

    /// Starts the workers and waits for all of them.
    pub(super) fn parallel(&mut self, takes_request: bool, staged: bool) {
        let function = &self.function;
        let request = if takes_request { ", request" } else { "" };
        let stage = if staged { ", stage" } else { "" };
        self.code.line(format!("const struct {function}_work work = {{plan{request}, at{stage}}};"));
        self.code.line(format!("pf_parallel(dev, {function}_share, &work);"));
    }

    /// The loop over strips of 32 rows, numbered.
    pub(super) fn strips(&mut self, rows: &str) {
        let (first, step) = if self.step.split.is_some() { ("worker", "strip += workers") } else { ("0", "++strip") };
        self.code.open(format!("for (uint32_t strip = {first}; strip < tiles_of(at->{rows}_len); {step})"));
    }

    /// The same loop by the first row of each strip.
    pub(super) fn strip_rows(&mut self, rows: &str) {
        let (first, step) =
            if self.step.split.is_some() { ("worker * TILE_EDGE", "workers * TILE_EDGE") } else { ("0", "TILE_EDGE") };
        self.code.open(format!("for (uint32_t row = {first}; row < at->{rows}_len; row += {step})"));
        self.code.line(format!("const uint32_t rows = at_most(TILE_EDGE, at->{rows}_len - row);"));
    }
}
