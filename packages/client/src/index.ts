export { ApiError, type ErrorDetail } from './api-error.ts';
export { type Activity, type ClientOptions, createClient, type FlotillaClient, WaitTimeout } from './client.ts';
export type { components, paths } from './schema.generated.ts';
export type { Credentials, Session } from './session.ts';
export type { Page, Row } from './types.ts';
