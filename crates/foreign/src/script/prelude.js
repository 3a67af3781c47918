// What a script finds is the same at every time and on every server: no clock, no random numbers, UTC as the time zone.
(() => {
    "use strict";
    const Given = Date;
    const zoneless = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$/;
    const utc = (text) => zoneless.test(text) ? text.replace(" ", "T") + "Z" : text;
    const refuse = (what) => { throw new TypeError(`${what} is not available in a function of the database`); };
    const Moment = function Date(...given) {
        if (new.target === undefined || given.length === 0) refuse("the current time");
        if (given.length > 1) given = [Given.UTC(...given)];
        else if (typeof given[0] === "string") given = [utc(given[0])];
        return Reflect.construct(Given, given, new.target === Moment ? Given : new.target);
    };
    Moment.prototype = Given.prototype;
    Object.defineProperty(Moment.prototype, "constructor", { value: Moment, writable: true, configurable: true });
    Moment.UTC = Given.UTC;
    Moment.parse = (text) => Given.parse(utc(String(text)));
    Moment.now = () => refuse("the current time");
    for (const part of ["Date", "Day", "FullYear", "Hours", "Milliseconds", "Minutes", "Month", "Seconds"]) {
        for (const way of ["get", "set"]) {
            const of = Moment.prototype[`${way}UTC${part}`];
            if (of !== undefined) Moment.prototype[way + part] = of;
        }
    }
    Moment.prototype.getTimezoneOffset = () => 0;
    for (const name of ["toString", "toLocaleString"]) Moment.prototype[name] = Moment.prototype.toUTCString;
    for (const name of ["toDateString", "toTimeString", "toLocaleDateString", "toLocaleTimeString"]) {
        delete Moment.prototype[name];
    }
    globalThis.Date = Moment;
    Math.random = () => refuse("Math.random");
    for (const shared of [Math, JSON, Reflect, Moment, globalThis]) Object.freeze(shared);
})();
