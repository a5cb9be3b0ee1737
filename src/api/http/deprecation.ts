/** The day when security profiles were renamed to USG profiles, as a Unix time. @see API specification, "Versioning" */
const RENAMED_AT = Date.UTC(2026, 3, 23) / 1000;

/** Header of answers to requests that use the old name of USG profiles. @see api-decisions 2.6; RFC 9745 */
export const DEPRECATION: Readonly<Record<string, string>> = { Deprecation: `@${RENAMED_AT}` };
