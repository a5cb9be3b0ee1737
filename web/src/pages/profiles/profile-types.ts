import type { components } from '@flotilla/client';

type Schemas = components['schemas'];
export type UsgProfile = Schemas['UsgProfile'];
export type ScriptProfile = Schemas['ScriptProfile'];
/** In UTC, of a schedule in a time zone. */
export type Dates = Schemas['UpcomingDates'];
export type UsgRun = Schemas['UsgRun'];
export type ProfileKind = 'usg' | 'script';
export type ListStatus = 'active' | 'archived' | 'all';
