"""Our names and Nsight Compute's, side by side.

A name of ours on the left counts the same event as the metric on the right, under the model of `traffic` and
`analysis`. They differ where the compiler merges or removes instructions, which the x-ray cannot see. Instructions that
are executed count in Nsight also where all lanes of the warp are switched off. Wavefronts and conflicts of shared
memory are those of loads and of stores; the metric without `_op_ld` counts others, too (on an H200, those of kernels
without shared memory).
"""

NSIGHT = {
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "sectors_per_request": "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
    "efficiency": "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
    "shared_load_requests": "smsp__inst_executed_op_shared_ld.sum",
    "shared_store_requests": "smsp__inst_executed_op_shared_st.sum",
    "shared_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum + ..._op_st.sum",
    "bank_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum + ..._op_st.sum",
    "local_sectors": "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum (loads), ..._op_st.sum (stores)",
    "active_lanes": "smsp__thread_inst_executed_per_inst_executed.ratio",
    "registers": "launch__registers_per_thread",
    "shared_bytes": "launch__shared_mem_per_block_static, ..._dynamic",
}
