export { ApiError, type ErrorDetail } from './api-error.ts';
export { type ClientOptions, createClient, type FlotillaClient } from './client.ts';
export type { CloudEvent, EventData, EventType } from './event-types.ts';
export type { EventsOptions } from './events.ts';
export type { components, paths } from './schema.generated.ts';
export type { Credentials, Session } from './session.ts';
export type { Page, Row } from './types.ts';
export { type Activity, type WaitOptions, WaitTimeout } from './wait-for.ts';
