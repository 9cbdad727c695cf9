"""The calls in a DUMPI trace and what each has, in the order of their numbers: records have no length of their own.

A letter is an argument: b an octet, h two, i four, q eight (signed, the highest octet first). I, H, B are a list of
such, J a list of lists of i, c text, each with its length in four octets before. A is a list of texts, s a list of
statuses. One behind a question mark is there at the root alone. Calls with ! cannot be read.
"""

from collections.abc import Mapping
from typing import Final

_TEXT: Final = """
Send:ihiih Recv:ihiihs Get_count:shi Bsend:ihiih Ssend:ihiih Rsend:ihiih Buffer_attach:i Buffer_detach:i
Isend:ihiihi Ibsend:ihiihi Issend:ihiihi Irsend:ihiihi Irecv:ihiihi Wait:is Test:iis Request_free:i Waitany:iIis
Testany:iIiis Waitall:iIs Testall:iIis Waitsome:iIiIs Testsome:iIiIs Iprobe:iihis Probe:iihs Cancel:i
Test_cancelled:si Send_init:ihiihi Bsend_init:ihiihi Ssend_init:ihiihi Rsend_init:ihiihi Recv_init:ihiihi Start:i
Startall:iI Sendrecv:ihiiihiihs Sendrecv_replace:ihiiiihs Type_contiguous:ihh Type_vector:iiihh Type_hvector:iiihh
Type_indexed:iIIhh Type_hindexed:iIIhh Type_struct:iIIHh Address:i Type_extent:hi Type_size:hi Type_lb:hi Type_ub:hi
Type_commit:h Type_free:h Get_elements:shi Pack:ihiiih Unpack:iiiihh Pack_size:ihhi Barrier:h Bcast:ihih
Gather:iihih?i?h Gatherv:iiihih?I?Ih Scatter:iihih?i?h Scatterv:iihihih?I?I Allgather:ihihh Allgatherv:iihIIhh
Alltoall:ihihh Alltoallv:iIIhIIhh Reduce:ihbih Op_create:ib Op_free:b Allreduce:ihbh Reduce_scatter:iIhbh Scan:ihbh
Group_size:hi Group_rank:hi Group_translate_ranks:hiIhI Group_compare:hhb Comm_group:hh Group_union:hhh
Group_intersection:hhh Group_difference:hhh Group_incl:hiIh Group_excl:hiIh Group_range_incl:hiJh
Group_range_excl:hiJh Group_free:h Comm_size:hi Comm_rank:hi Comm_compare:hhb Comm_dup:hh Comm_create:hhh
Comm_split:hiih Comm_free:h Comm_test_inter:hi Comm_remote_size:hi Comm_remote_group:hh Intercomm_create:hihiih
Intercomm_merge:hih Keyval_create:h Keyval_free:h Attr_put:hi Attr_get:hii Attr_delete:hi Topo_test:hb
Cart_create:hiIIih Dims_create:iiII Graph_create:ihiIIih Graphdims_get:hii Graph_get:iihiiII Cartdim_get:hi
Cart_get:ihiIII Cart_rank:ihIi Cart_coords:ihiiI Graph_neighbors_count:hii Graph_neighbors:ihiiI Cart_shift:hiiii
Cart_sub:ihIh Cart_map:hiIIi Graph_map:ihiIIi Get_processor_name:ci Get_version:ii Errhandler_create:h
Errhandler_set:hh Errhandler_get:hh Errhandler_free:h Error_string:ici Error_class:ii Wtime: Wtick: Init:A Finalize:
Initialized:i Abort:hi Pcontrol:! Close_port:c Comm_accept:chihh Comm_connect:chihh Comm_disconnect:h
Comm_get_parent:h Comm_join:ih Comm_spawn:! Comm_spawn_multiple:! Lookup_name:chc Open_port:hc Publish_name:chc
Unpublish_name:chc Accumulate:ihiiihbh Get:ihiiihh Put:ihiiihh Win_complete:h Win_create:iihhh Win_fence:bh
Win_free:h Win_get_group:hh Win_lock:bibh Win_post:hbh Win_start:hbh Win_test:hi Win_unlock:ih Win_wait:h
Alltoallw:iIIHIIHh Exscan:ihbh Add_error_class:i Add_error_code:ii Add_error_string:ic Comm_call_errhandler:hi
Comm_create_keyval:h Comm_delete_attr:hh Comm_free_keyval:h Comm_get_attr:hhi Comm_get_name:hci Comm_set_attr:hh
Comm_set_name:hc File_call_errhandler:hi Grequest_complete:i Grequest_start:i Init_thread:Abb Is_thread_main:i
Query_thread:b Status_set_cancelled:si Status_set_elements:shi Type_create_keyval:h Type_delete_attr:hh Type_dup:hh
Type_free_keyval:h Type_get_attr:hhi Type_get_contents:iiihiiiIIH Type_get_envelope:hiiib Type_get_name:hci
Type_set_attr:hh Type_set_name:hc Type_match_size:bih Win_call_errhandler:hi Win_create_keyval:h Win_delete_attr:hh
Win_free_keyval:h Win_get_attr:hhi Win_get_name:hci Win_set_attr:hh Win_set_name:hc Alloc_mem:ih
Comm_create_errhandler:h Comm_get_errhandler:hh Comm_set_errhandler:hh File_create_errhandler:h
File_get_errhandler:hh File_set_errhandler:hh Finalized:i Free_mem: Get_address:i Info_create:h Info_delete:hc
Info_dup:hh Info_free:h Info_get:hcici Info_get_nkeys:hi Info_get_nthkey:hic Info_get_valuelen:hcii Info_set:hcc
Pack_external:cihiii Pack_external_size:cihi Request_get_status:iis Type_create_darray:iiiIBIIbhh
Type_create_hindexed:iIIhh Type_create_hvector:iiihh Type_create_indexed_block:iiIhh Type_create_resized:hiih
Type_create_struct:iIIHh Type_create_subarray:iIIIbhh Type_get_extent:hii Type_get_true_extent:hii
Unpack_external:ciiiih Win_create_errhandler:h Win_get_errhandler:hh Win_set_errhandler:hh File_open:hcbhh
File_close:h File_delete:ch File_set_size:hq File_preallocate:hq File_get_size:hq File_get_group:hh
File_get_amode:hb File_set_info:hh File_get_info:hh File_set_view:hqhhch File_get_view:hqhhc File_read_at:hqihs
File_read_at_all:hqihs File_write_at:hqihs File_write_at_all:hqihs File_iread_at:hqihi File_iwrite_at:hqihi
File_read:hihs File_read_all:hihs File_write:hihs File_write_all:hihs File_iread:hihi File_iwrite:hihi File_seek:hqb
File_get_position:hq File_get_byte_offset:hqq File_read_shared:hihs File_write_shared:hihs File_iread_shared:hihi
File_iwrite_shared:hihi File_read_ordered:hihs File_write_ordered:hihs File_seek_shared:hqb
File_get_position_shared:hq File_read_at_all_begin:hqih File_read_at_all_end:hs File_write_at_all_begin:hqih
File_write_at_all_end:hs File_read_all_begin:hih File_read_all_end:hs File_write_all_begin:hih File_write_all_end:hs
File_read_ordered_begin:hih File_read_ordered_end:hs File_write_ordered_begin:hih File_write_ordered_end:hs
File_get_type_extent:hhi Register_datarep:c File_set_atomicity:hi File_get_atomicity:hi File_sync:h IO_Test:iis
IO_Wait:is IO_Testall:iIis IO_Waitall:iIs IO_Testany:iIiis IO_Waitany:iIis IO_Waitsome:iIiIs IO_Testsome:iIiIs
ALL_FUNCTIONS:! Function_enter:q Function_exit:q
"""

LAYOUTS: Final[tuple[tuple[str, str], ...]] = tuple(
    (name, layout) for name, _, layout in (word.partition(":") for word in _TEXT.split())
)
"""Name and layout by the number of a call."""

END: Final = len(LAYOUTS)
"""The number that ends the calls."""

ROOT_AT: Final[Mapping[str, int]] = {"Gather": 3, "Gatherv": 4, "Scatter": 3, "Scatterv": 5}
"""Which argument is the root; the first one is the rank in the communicator."""
