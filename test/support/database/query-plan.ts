import type { Sql } from '../../../src/persistence/database/sql.ts';

interface Explained {
  Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number; 'Actual Rows': number };
}

/** Runs a statement: how many rows it gives, and how many blocks of tables and indexes it touches for them. */
export async function costOf(
  db: Sql,
  text: string,
  values: readonly unknown[],
): Promise<{ rows: number; blocks: number }> {
  const [row] = await db.query<{ 'QUERY PLAN': Explained[] }>(
    `explain (analyze, buffers, format json) ${text}`,
    values,
  );
  const { Plan: plan } = row!['QUERY PLAN'][0]!;
  return { rows: plan['Actual Rows'], blocks: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'] };
}
