import { readFileSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TemporalTlsSettings } from '../../src/process/config.ts';
import { openStateFile } from '../simulator/state-file.ts';
import { certificatesIn, SERVER_NAME } from '../temporal-server/certificates.ts';

/** TLS settings of a stack's owner for its Temporal server. @param dataDir - of the stack, or `topology` below it */
export function stackTls(dataDir: string): TemporalTlsSettings {
  const { ca, client } = certificatesIn(join(dataDir, 'temporal', 'tls'));
  return {
    enabled: true,
    caFile: ca,
    certFile: client.cert,
    keyFile: client.key,
    serverName: SERVER_NAME,
    apiKey: null,
  };
}

/** Runs one statement as the superuser of a stack's PostgreSQL, a role that no process of the stack has. */
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

/**
 * The secure ids of a stack's simulated computers, of which the server stores only digests. Reads a copy, because
 * opening the state of a fleet rewrites it.
 */
export async function readAgentIdentities(dataDir: string): Promise<string[]> {
  const directory = await mkdtemp(join(tmpdir(), `flotilla-test-${process.pid}-`));
  try {
    const copy = join(directory, 'state.json');
    await copyFile(join(dataDir, 'fleet', 'state.json'), copy);
    const state = openStateFile(copy, { seed: 1, epoch: 0, packageIds: {} });
    state.close(state.agents);
    return [...state.agents.values()].flatMap(({ session }) => (session.id === null ? [] : [session.id]));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
