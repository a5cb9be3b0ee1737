/** The day when security profiles were renamed to USG profiles, as a Unix time. @see docs/api-conventions.md#deprecation */
const RENAMED_AT = Date.UTC(2026, 3, 23) / 1000;

/** Header of answers to requests that use the old name of USG profiles. @see docs/api-conventions.md#deprecation */
export const DEPRECATION: Readonly<Record<string, string>> = { Deprecation: `@${RENAMED_AT}` };
