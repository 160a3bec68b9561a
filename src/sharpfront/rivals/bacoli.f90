! The problem as BACOLI asks for it, and a run of the library; braces are filled in by bacoli.py.

subroutine f(t, x, u, ux, uxx, fval, npde)
  integer :: npde
  double precision :: t, x, u(npde), ux(npde), uxx(npde), fval(npde)
{f}
end subroutine f
subroutine bndxa(t, u, ux, bval, npde)
  integer :: npde
  double precision :: t, u(npde), ux(npde), bval(npde)
{left}
end subroutine bndxa
subroutine bndxb(t, u, ux, bval, npde)
  integer :: npde
  double precision :: t, u(npde), ux(npde), bval(npde)
{right}
end subroutine bndxb
subroutine uinit(x, u, npde)
  integer :: npde
  double precision :: x, u(npde)
{start}
end subroutine uinit
subroutine none()
end subroutine none
subroutine run(began, moments, t, first, places, x, u, tol, kcol, runge, dirichlet, elements, idid)&
    bind(c, name="run")
  use iso_c_binding
  use bacoli_interface
  integer(c_int), value :: moments, places, kcol, runge, dirichlet, elements
  integer(c_int) :: first(moments + 1), idid
  real(c_double), value :: began, tol
  real(c_double) :: t(moments), x(places), u({npde}, places)
  double precision :: each({npde}), mesh(elements + 1)
  double precision, allocatable :: work(:)
  external f, bndxa, bndxb, uinit, none
  integer :: i, j, n
  open (unit=6, file="/dev/null")
  each = tol
  do i = 0, elements
    mesh(i + 1) = {low} + ({high} - {low}) * dble(i) / dble(elements)
  end do
  call initialize({npde}, 2000, kcol, 1, runge, 0, .false., each, {npde}, each, {npde}, began, &
    mesh, elements + 1, x, 1, dirichlet, 0d0, .false., 0d0, .false., idid)
  do j = 1, moments
    if (idid < 0) exit
    call solve(t(j), f, none, bndxa, bndxb, uinit, none, .false., none, .false., none, .false., &
      idid, .false.)
    if (idid <= 0) exit
    i = first(j) + 1
    n = first(j + 1) - first(j)
    allocate (work(kcol + 2 + kcol * (sol%nint + 1) + 4))
    if (runge == 0) then
      call values(kcol, x(i), sol%nint, sol%x, {npde}, n, 0, u(1, i), sol%y, work)
    else
      call valuesri(kcol, x(i), sol%nint, sol%x, {npde}, n, 0, u(1, i), sol%y, work)
    end if
    deallocate (work)
  end do
  call sol_teardown()
end subroutine run
