-- Found by the fuzzer: hang, 3015 MB resident (--memory 1GB).
SELECT length(repeat('x', 2000000000));
