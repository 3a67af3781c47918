-- Found by the fuzzer: memory: stopped at 4133 MB resident (--memory 1GB).
SELECT length(replace(repeat('a', 100000), 'a', repeat('xxxx', 10000)));
