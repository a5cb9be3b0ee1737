import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

/** One statement as the superuser of a stack's PostgreSQL, which no process of the stack is. */
export async function asSuperuser(dataDir: string, databaseUrl: string, statement: string): Promise<void> {
  const { superuserPassword } = JSON.parse(readFileSync(join(dataDir, 'secrets.json'), 'utf8')) as Record<
    string,
    string
  >;
  const { hostname: host, port, pathname } = new URL(databaseUrl);
  const database = pathname.slice(1);
  const client = new pg.Client({ host, port: Number(port), user: 'postgres', password: superuserPassword, database });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end().catch(() => undefined);
  }
}
