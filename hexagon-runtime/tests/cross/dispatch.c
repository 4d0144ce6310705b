/* The session's dispatch on the host, with one kernel that notes what it was given. */
#include <stdio.h>
#include <string.h>

#include "device.h"
#include "vendor.h"

#include "wire.h"

struct pf_session {
    pf_device dev;
};

static struct pf_request given;
static int calls;

static int noting_entry(pf_device *dev, const struct pf_plan *plan, const struct pf_request *request)
{
    (void)dev;
    (void)plan;
    given = *request;
    calls++;
    return PF_BUSY;
}

static const struct pf_kernel pf_kernels[] = {{7u, "noting", noting_entry}};

#include "dispatch.h"

static uint8_t weights[4096], tokens[4096];
static struct pf_session session;
static struct pf_message message;
static struct dspqueue_buffer buffers[3]; /* the third is sound, and not of the packet */

/* A sound message: a constant, an input, an output, exponents and flags, the last four in one buffer. */
static void sound(void)
{
    memset(&message, 0, sizeof message);
    message.abi_version = PF_ABI_VERSION;
    message.bytes = sizeof message;
    message.plan.arch = __HEXAGON_ARCH__;
    message.request.kernel = 7u;
    message.request.axes[0] = 32;
    message.request.operands[0] = (struct pf_operand){.address = 0, .bytes = 1024};
    message.request.operands[1] = (struct pf_operand){.address = 128, .bytes = 3968};
    message.request.operands[2] = (struct pf_operand){.address = 1024, .bytes = 1024};
    message.request.row_exponents = 2048;
    message.request.row_flags = 4096 - 32;
    message.places[0] = (struct pf_place){1, PF_INPUT};
    message.places[1] = (struct pf_place){0, PF_CONSTANT};
    message.places[2] = (struct pf_place){1, PF_OUTPUT};
    message.places[PF_ROW_EXPONENTS] = (struct pf_place){1, PF_INPUT};
    message.places[PF_ROW_FLAGS] = (struct pf_place){1, PF_OUTPUT};
    memset(buffers, 0, sizeof buffers);
    buffers[0].size = sizeof weights;
    buffers[0].ptr = weights;
    buffers[1].size = sizeof tokens;
    buffers[1].ptr = tokens;
    buffers[1].flags = PF_HANDED_OVER | DSPQUEUE_BUFFER_FLAG_REF;
    buffers[2] = buffers[1];
}

static int answer(uint32_t bytes)
{
    return pf_dispatch(&session, &message, bytes, buffers, 2);
}

static int failures;

static void expect(const char *what, int status, int expected, int called)
{
    if (status != expected || calls != called) {
        printf("%s: status %d, expected %d; kernel called %d times\n", what, status, expected, calls);
        failures++;
    }
    calls = 0;
    sound();
}

int main(void)
{
    sound();
    int status = answer(sizeof message);
    if (given.operands[0].address != (uintptr_t)tokens || given.operands[1].address != (uintptr_t)weights + 128
        || given.operands[2].address != (uintptr_t)tokens + 1024 || given.operands[3].address
        || given.row_exponents != (uintptr_t)tokens + 2048 || given.row_flags != (uintptr_t)tokens + 4064) {
        puts("offsets did not become addresses");
        failures++;
    }
    expect("sound: the kernel's own status", status, PF_BUSY, 1);

    expect("short packet", answer(sizeof message - 8), PF_BAD_ABI, 0);
    message.abi_version++;
    expect("other version", answer(sizeof message), PF_BAD_ABI, 0);
    message.bytes -= 8;
    expect("other size", answer(sizeof message), PF_BAD_ABI, 0);
    message.plan.arch = __HEXAGON_ARCH__ + 2;
    expect("plan of another architecture", answer(sizeof message), PF_WRONG_ARCH, 0);
    message.request.kernel = 8u;
    expect("no such kernel", answer(sizeof message), PF_BAD_PLAN, 0);
    message.places[0].buffer = 2;
    expect("no such buffer", answer(sizeof message), PF_BAD_MESSAGE, 0);
    message.places[1].role = 4;
    expect("no such role", answer(sizeof message), PF_BAD_MESSAGE, 0);
    buffers[0].ptr = NULL;
    expect("unmapped buffer", answer(sizeof message), PF_BAD_MESSAGE, 0);
    message.request.operands[1].bytes++;
    expect("one byte behind the buffer", answer(sizeof message), PF_BAD_MESSAGE, 0);
    message.request.operands[1].address = UINT64_MAX - 64;
    expect("an offset that wraps", answer(sizeof message), PF_BAD_MESSAGE, 0);
    message.request.operands[2].bytes = UINT64_MAX;
    expect("a size that wraps", answer(sizeof message), PF_BAD_MESSAGE, 0);
    message.request.row_flags++;
    expect("flags behind the buffer", answer(sizeof message), PF_BAD_MESSAGE, 0);
    message.request.axes[0] = 0x40000000u; /* four times it is no 32-bit number */
    message.places[PF_ROW_FLAGS].role = PF_ABSENT;
    expect("more rows than exponents", answer(sizeof message), PF_BAD_MESSAGE, 0);
    buffers[1].flags = DSPQUEUE_BUFFER_FLAG_FLUSH_SENDER;
    expect("an input nobody invalidates", answer(sizeof message), PF_BAD_MESSAGE, 0);
    buffers[1].flags = DSPQUEUE_BUFFER_FLAG_INVALIDATE_RECIPIENT;
    expect("an input nobody flushes", answer(sizeof message), PF_BAD_MESSAGE, 0);
    return failures != 0;
}
