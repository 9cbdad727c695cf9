! The same in Fortran: mpi_f08 where the first argument says so, else the older module.
program recorded
    implicit none
    character(len=8) :: argument
    call get_command_argument(1, argument)
    if (argument == "f08") then
        call with_f08()
    else
        call with_older()
    end if
contains
    subroutine with_older()
        use mpi
        integer :: rank, ranks, right, left, half, error, requests(2), values(20), sums(20)
        call mpi_init(error)
        call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
        call mpi_comm_size(MPI_COMM_WORLD, ranks, error)
        right = modulo(rank + 1, ranks)
        left = modulo(rank - 1, ranks)
        values = rank
        call mpi_irecv(sums, 20, MPI_INTEGER, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, requests(1), error)
        call mpi_isend(values, 10, MPI_INTEGER, right, 4, MPI_COMM_WORLD, requests(2), error)
        call mpi_waitall(2, requests, MPI_STATUSES_IGNORE, error)
        call mpi_sendrecv(values, 3, MPI_REAL8, left, 5, sums, 10, MPI_REAL8, right, 5, MPI_COMM_WORLD, &
                          MPI_STATUS_IGNORE, error)
        call mpi_comm_split(MPI_COMM_WORLD, modulo(rank, 2), -rank, half, error)
        call mpi_allreduce(MPI_IN_PLACE, values, 6, MPI_INTEGER, MPI_SUM, half, error)
        call mpi_finalize(error)
    end subroutine

    subroutine with_f08()
        use mpi_f08
        integer :: rank, ranks, right, left, values(20), sums(20)
        type(MPI_Request) :: requests(2)
        type(MPI_Comm) :: half
        call MPI_Init()
        call MPI_Comm_rank(MPI_COMM_WORLD, rank)
        call MPI_Comm_size(MPI_COMM_WORLD, ranks)
        right = modulo(rank + 1, ranks)
        left = modulo(rank - 1, ranks)
        values = rank
        call MPI_Irecv(sums, 20, MPI_INTEGER, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, requests(1))
        call MPI_Isend(values, 10, MPI_INTEGER, right, 4, MPI_COMM_WORLD, requests(2))
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
        call MPI_Sendrecv(values, 3, MPI_REAL8, left, 5, sums, 10, MPI_REAL8, right, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
        call MPI_Comm_split(MPI_COMM_WORLD, modulo(rank, 2), -rank, half)
        call MPI_Allreduce(MPI_IN_PLACE, values, 6, MPI_INTEGER, MPI_SUM, half)
        call MPI_Finalize()
    end subroutine
end program
