//! The two strategies of AMOS-SDDS for the join (A6), as it had them: with foreign functions.
//!
//! With strategy I a function imports the persons into the engine, which joins them. With strategy E the functions
//! themselves find the pairs: to count them, a function goes to the servers and each sends what it has counted of its own
//! persons; to list them, a function gets the persons of a city.

/// The statements that make the functions, in this order.
pub const FUNCTIONS: [&str; 6] = [
    "CREATE OR REPLACE FUNCTION sdds_fullextent() RETURNS TABLE (ssn integer, city text) LANGUAGE plpgsql STABLE AS $$
     BEGIN
         RETURN QUERY SELECT person.ssn, person.city::text FROM person;
     END $$",
    "CREATE OR REPLACE FUNCTION f_count(state jsonb, city text) RETURNS jsonb LANGUAGE javascript IMMUTABLE STRICT AS $$
         state[city] = (state[city] || 0) + 1;
         return state;
     $$",
    "CREATE OR REPLACE FUNCTION f_combine(a jsonb, b jsonb) RETURNS jsonb LANGUAGE javascript IMMUTABLE STRICT AS $$
         for (const city in b) a[city] = (a[city] || 0) + b[city];
         return a;
     $$",
    "CREATE OR REPLACE FUNCTION f_pairs(state jsonb) RETURNS bigint LANGUAGE javascript IMMUTABLE STRICT AS $$
         return BigInt(Object.values(state).reduce((sum, n) => sum + n * (n - 1) / 2, 0));
     $$",
    "CREATE AGGREGATE f_ship(text) \
     (SFUNC = f_count, STYPE = jsonb, INITCOND = '{}', COMBINEFUNC = f_combine, FINALFUNC = f_pairs)",
    "CREATE OR REPLACE FUNCTION f_join(persons integer[]) RETURNS TABLE (ssn integer, ssn1 integer) \
     LANGUAGE javascript IMMUTABLE STRICT AS $$
         persons.sort((a, b) => a - b);
         return (function* () {
             for (let a = 0; a < persons.length; a++)
                 for (let b = a + 1; b < persons.length; b++) yield [persons[a], persons[b]];
         })();
     $$",
];

/// Lists the pairs, with strategy I.
pub const PAIRS_INTERNAL: &str = "SELECT a.ssn, b.ssn AS ssn1 FROM sdds_fullextent() a, sdds_fullextent() b \
                                  WHERE a.city = b.city AND a.ssn < b.ssn";
/// Counts the pairs, with strategy I.
pub const COUNT_INTERNAL: &str = "SELECT count(*) AS pairs FROM sdds_fullextent() a, sdds_fullextent() b \
                                  WHERE a.city = b.city AND a.ssn < b.ssn";
/// Lists the pairs, with strategy E.
pub const PAIRS_EXTERNAL: &str = "SELECT pairs.ssn, pairs.ssn1 \
     FROM (SELECT array_agg(ssn) AS persons FROM person GROUP BY city) AS cities, f_join(cities.persons) AS pairs";
/// Counts the pairs, with strategy E.
pub const COUNT_EXTERNAL: &str = "SELECT f_ship(city) AS pairs FROM person";
