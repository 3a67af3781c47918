-- The tables of the statements in the other files of this folder.
CREATE TABLE t (id integer PRIMARY KEY, v text NOT NULL, n integer CONSTRAINT small CHECK (n < 10), d date, price numeric(6,2), c varchar(4), u uuid, j json, ts timestamp, tz timestamptz, b boolean, by bytea, si smallint, bi bigint, r real, f double precision, tm time, iv interval, arr integer[]);
INSERT INTO t (id, v, n, d, price, c, ts, si, bi, r, f) VALUES (1, 'a', 1, '2024-01-01', 1.50, 'ab', '2024-01-01 10:00:00', 1, 1, 1.5, 2.5), (2, 'b', 2, '2024-01-02', 2.50, 'cd', '2024-01-02 10:00:00', 2, 2, 2.5, 3.5);
CREATE TABLE two (a integer, b text, PRIMARY KEY (a, b));
INSERT INTO two VALUES (1, 'x'), (2, 'y');
CREATE VIEW w AS SELECT id, v FROM t;
CREATE SEQUENCE s;
CREATE SCHEMA other;
CREATE TABLE other.t (id integer PRIMARY KEY, name text);
