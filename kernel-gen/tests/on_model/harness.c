/* Runs one request on a functional model: harness CASE RESULT.
 *
 * CASE: struct pf_plan, struct pf_request with offsets into the rest of the file in place of addresses, then the data.
 * RESULT: the status, the fault text (512 bytes), the counts, the output operand (the third), the row flags.
 */
#include "kernels.c"
#include "model_table.h"

#include <stdio.h>

static void write_all(FILE *file, const void *data, size_t bytes)
{
    if (fwrite(data, 1, bytes, file) != bytes)
        exit(3);
}

int main(int argc, char **argv)
{
    FILE *input = argc == 3 ? fopen(argv[1], "rb") : NULL;
    if (!input)
        return 2;
    struct pf_plan plan;
    struct pf_request request;
    if (fread(&plan, sizeof plan, 1, input) != 1 || fread(&request, sizeof request, 1, input) != 1)
        return 2;
    const size_t room = 64u << 20;
    uint8_t *data = aligned_alloc(128, room);
    if (!data || fread(data, 1, room, input) == 0)
        return 2;
    fclose(input);
    for (int i = 0; i < PF_MAX_OPERANDS; i++)
        if (request.operands[i].bytes)
            request.operands[i].address += (uint64_t)(uintptr_t)data;
    request.row_exponents += (uint64_t)(uintptr_t)data;
    request.row_flags += (uint64_t)(uintptr_t)data;

    const struct pf_model_table *model = &PF_CAT(pf_model_, PF_VARIANT);
    pf_device *dev = model->open(8u << 20, PF_OVERFLOW_EXPONENT31, 4);
    if (!dev)
        return 2;
    int32_t status = model->run(dev, request.kernel, &plan, &request);
    char fault[512] = {0};
    snprintf(fault, sizeof fault, "%s", model->fault(dev));
    struct pf_counts counts;
    model->counts(dev, &counts);
    FILE *output = fopen(argv[2], "wb");
    if (!output)
        return 2;
    write_all(output, &status, sizeof status);
    write_all(output, fault, sizeof fault);
    write_all(output, &counts, sizeof counts);
    write_all(output, (const void *)(uintptr_t)request.operands[2].address, request.operands[2].bytes);
    write_all(output, (const void *)(uintptr_t)request.row_flags, request.axes[0]);
    fclose(output);
    model->close(dev);
    free(data);
    return 0;
}
