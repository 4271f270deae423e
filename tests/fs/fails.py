"""What the tests' Python programs share."""


def fails(number, call, *args, **more):
    """The call must fail with this errno."""
    try:
        call(*args, **more)
    except OSError as e:
        assert e.errno == number, (call, args, e)
    else:
        assert False, (call, args)
