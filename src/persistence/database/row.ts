import type { InferKyselyDB } from '@mikro-orm/postgresql';
import type { Selectable } from 'kysely';
import type { Registry } from './sql.ts';

type Entity = Registry extends { entities: ReadonlyArray<infer E extends { name: string }> } ? E : never;
type Tables = InferKyselyDB<Entity>;

/** Columns of a table as a statement returns them: all, or those of a list such as `id, name`. */
export type Row<T extends keyof Tables, List extends string = keyof Tables[T] & string> = Pick<
  Selectable<Tables[T]>,
  Names<List> & keyof Selectable<Tables[T]>
>;

type Names<List extends string> = List extends `${infer First},${infer Rest}` ? Trim<First> | Names<Rest> : Trim<List>;

type Trim<Name extends string> = Name extends ` ${infer Rest}` | `\n${infer Rest}` ? Trim<Rest> : Name;
