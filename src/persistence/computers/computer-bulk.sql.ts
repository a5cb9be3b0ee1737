import type { Sql } from '../database/sql.ts';

/** Adds missing tags, locking changed rows in id order. @returns up to 100 computers with more than `most`, by id */
export function addTags(tx: Sql, computers: readonly number[], tags: readonly string[], most: number) {
  return overLimit(tx, ADD_TAGS, { computers, tags, most });
}

/** Idempotent. Locks changed rows in id order. */
export async function removeTags(tx: Sql, computers: readonly number[], tags: readonly string[]): Promise<void> {
  await tx.query(REMOVE_TAGS, { computers, tags });
}

/** Sets an annotation. @returns up to 100 computers that now have more than `most` annotations, by id */
export function annotate(
  tx: Sql,
  computers: readonly number[],
  annotation: { key: string; value: string },
  most: number,
): Promise<number[]> {
  return overLimit(tx, ANNOTATE, { ...annotation, computers, most });
}

/** Idempotent. Locks changed rows in id order. */
export async function removeAnnotation(tx: Sql, computers: readonly number[], key: string): Promise<void> {
  await tx.query(REMOVE_ANNOTATION, { computers, key });
}

/** Idempotent. Locks changed rows in id order. */
export async function changeAccessGroup(tx: Sql, computers: readonly number[], accessGroupId: number): Promise<void> {
  await tx.query(MOVE, { computers, accessGroupId });
}

async function overLimit(tx: Sql, text: string, values: object): Promise<number[]> {
  const [row] = await tx.query<{ over_limit: number[] }>(text, values);
  return row!.over_limit;
}

const changing = (which: string) => `
  with changing as materialized (
    select c.id from computer c where c.id = any(:computers::int[]) and ${which} order by c.id for no key update
  )`;

const ADD_TAGS = `
  ${changing('not c.tags @> :tags::text[]')}, changed as (
    update computer c set tags = c.tags || array(
      select t.name from unnest(:tags::text[]) with ordinality as t(name, place) where t.name <> all(c.tags) order by t.place)
    from changing where c.id = changing.id
    returning c.id, cardinality(c.tags) as size
  )
  select array(select id from changed where size > :most order by id limit 100) as over_limit`;

const REMOVE_TAGS = `
  ${changing('c.tags && :tags::text[]')}
  update computer c set tags = array(
    select t.name from unnest(c.tags) with ordinality as t(name, place) where t.name <> all(:tags::text[]) order by t.place)
  from changing where c.id = changing.id`;

const ANNOTATE = `
  ${changing('c.annotations ->> :key::text is distinct from :value::text')}, changed as (
    update computer c set annotations = c.annotations || jsonb_build_object(:key::text, :value::text)
    from changing where c.id = changing.id
    returning c.id, (select count(*) from jsonb_object_keys(c.annotations)) as size
  )
  select array(select id from changed where size > :most order by id limit 100) as over_limit`;

const REMOVE_ANNOTATION = `
  ${changing('jsonb_exists(c.annotations, :key::text)')}
  update computer c set annotations = c.annotations - :key::text from changing where c.id = changing.id`;

const MOVE = `
  ${changing('c.access_group_id <> :accessGroupId::int')}
  update computer c set access_group_id = :accessGroupId::int from changing where c.id = changing.id`;
