import type { components } from '@flotilla/client';

type Schemas = components['schemas'];
export type Script = Schemas['Script'];
export type ScriptItem = Schemas['ScriptItem'];
export type ScriptVersionItem = Schemas['ScriptVersionItem'];
export type ScriptVersion = Schemas['ScriptVersion'];
