import type { components } from '@flotilla/client';

type Schemas = components['schemas'];
export type UsgProfile = Schemas['UsgProfile'];
export type ScriptProfile = Schemas['ScriptProfile'];
export type UsgRun = Schemas['UsgRun'];
export type ProfileKind = 'usg' | 'script';
export type ListStatus = 'active' | 'archived' | 'all';
