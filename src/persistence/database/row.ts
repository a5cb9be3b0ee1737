import type { InferKyselyDB } from '@mikro-orm/postgresql';
import type { Selectable } from 'kysely';
import type { Registry } from './sql.ts';

type Entity = Registry extends { entities: ReadonlyArray<infer E extends { name: string }> } ? E : never;
type Tables = InferKyselyDB<Entity>;

/** Columns of a table as a statement returns them. */
export type Row<T extends keyof Tables> = Selectable<Tables[T]>;
